import { InvalidArgumentError, Option, type Command } from 'commander';
import { UsageError } from '../exit.js';
import type { CronChanges, CronSettings } from '../jobs.js';
import { duration, json, positiveDuration, wholeNumber, type JsonValue } from '../option-values.js';
import { withZoneOptions, type ZoneFlags } from './schedule-options.js';

/** What is called the same here and in the catalog. */
const SAME = [
  ...(['expression', 'every', 'handler', 'disabled', 'spread', 'minInterval'] as const),
  ...(['misfire', 'maxCatchUp', 'grace', 'catchUpWindow', 'startDeadline'] as const),
  ...(['overlap', 'maxConcurrency', 'cancelGrace'] as const),
  ...(['expectEvery', 'lateAfter', 'description', 'owner', 'runbookUrl'] as const),
] satisfies readonly (keyof CronSettings)[];

/** All that a cron is, but its name. */
export interface CronFlags extends ZoneFlags, Pick<CronSettings, (typeof SAME)[number]> {
  readonly payload?: JsonValue;
  readonly pingSuccess?: string;
  readonly pingFailure?: string;
  readonly pingMissed?: string;
  readonly pingUncertain?: string;
  readonly tag?: readonly string[];
  /** Flags of options to reset to their defaults. */
  readonly reset?: readonly string[];
}

const MISFIRES = ['skip', 'fire-once', 'fire-all'] satisfies CronSettings['misfire'][];
const OVERLAPS = ['skip', 'queue-one', 'queue-all', 'replace', 'allow'] satisfies CronSettings['overlap'][];

export function withCronOptions(command: Command): Command {
  return withAlarmOptions(withOverlapOptions(withMisfireOptions(withWhatAndWhen(command))));
}

function withWhatAndWhen(command: Command): Command {
  const expressed = command
    .option('--expression <expression>', 'cron expression of 5 or 6 fields, in quotes')
    .option('--every <interval>', 'instead: an interval such as 30s, 5m or 1h, counted from 1970-01-01T00:00:00Z');
  return withZoneOptions(expressed)
    .option('--handler <cron>', 'declared cron whose handler executes its runs (default: its own)')
    .option('--payload <json>', 'payload of each run (default: null)', json)
    .option('--spread <duration>', 'window over which crons with the same schedule are spread', duration)
    .option('--min-interval <duration>', 'reject schedules with a shorter interval', duration)
    .option('--tag <tag...>', 'its tags, at most 10')
    .option('--description <text>', 'what it is for, at most 500 characters')
    .option('--owner <name>', 'team or person to turn to')
    .option('--runbook-url <url>', 'http(s) address of what to do when it fails')
    .option('--disabled', 'keep the definition, do not fire it')
    .option('--reset <options>', 'options to reset to their defaults, such as grace,tag,disabled', resets);
}

function withMisfireOptions(command: Command): Command {
  const misfire = new Option('--misfire <rule>', 'policy for missed instants (default: fire-once)');
  return command
    .addOption(misfire.choices(MISFIRES))
    .option('--max-catch-up <n>', 'maximum runs of fire-all (default: 20)', wholeNumber(1, 1_000))
    .option(
      '--catch-up-window <duration>',
      'catch-up window, at least the grace (default: one period, at most 24h)',
      duration,
    )
    .option('--grace <duration>', 'delay after which a run counts as late (default: 60s)', duration)
    .option(
      '--start-deadline <duration>',
      'skip the run if no worker has started it within this long of its due time',
      positiveDuration,
    );
}

function withOverlapOptions(command: Command): Command {
  const overlap = new Option('--overlap <rule>', 'policy when the maximum of open runs is reached (default: skip)');
  return command
    .addOption(overlap.choices(OVERLAPS))
    .option('--max-concurrency <n>', 'maximum of open runs (default: 1)', wholeNumber(1, 1_000))
    .option('--cancel-grace <duration>', 'grace period of the replaced run (default: 30s)', duration);
}

function withAlarmOptions(command: Command): Command {
  return command
    .option('--expect-every <duration>', 'raise an alarm if no run has succeeded for this long', positiveDuration)
    .option(
      '--late-after <duration>',
      'raise an alarm if a run has not finished this long after its due time',
      positiveDuration,
    )
    .option('--ping-success <url>', 'URL to call when a run succeeds')
    .option('--ping-failure <url>', 'URL to call when a run fails for good')
    .option('--ping-missed <url>', 'URL to call when an instant is missed or late')
    .option('--ping-uncertain <url>', 'URL to call when a run becomes uncertain');
}

/** Flags that differ from the option they set; parts of `dst` and `ping` are written as `dst.gap`. */
const OTHERWISE = {
  tz: 'timeZone',
  tag: 'tags',
  dstGap: 'dst.gap',
  dstRepeat: 'dst.repeat',
  pingSuccess: 'ping.success',
  pingFailure: 'ping.failure',
  pingMissed: 'ping.missed',
  pingUncertain: 'ping.uncertain',
} as const;

/** Options that have a default, by flag. */
const RESETTABLE: ReadonlyMap<string, string> = new Map([
  ...SAME.filter((name) => name !== 'expression' && name !== 'every').map((name) => [kebab(name), name] as const),
  ...Object.entries(OTHERWISE).map(([flag, option]) => [kebab(flag), option] as const),
  ['payload', 'payload'],
]);

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Reads the names of options to reset, without their dashes. */
function resets(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim().replace(/^--/, ''));
  const unknown = names.find((name) => !RESETTABLE.has(name));
  if (unknown === undefined) return [...before, ...names];
  throw new InvalidArgumentError(
    `"${unknown}" has no default. Name options such as ${[...RESETTABLE.keys()].join(', ')}.`,
  );
}

/**
 * Named options with their values, and reset ones with `null`.
 * @throws {UsageError} for two schedules, and for an option that is named and reset
 */
export function changesOf(flags: CronFlags): CronChanges {
  if (flags.expression !== undefined && flags.every !== undefined) {
    throw new UsageError('Expected either --expression or --every, and not both.');
  }
  const named = namedOptions(flags);
  const reset = (flags.reset ?? []).map((flag) => RESETTABLE.get(flag) ?? flag);
  const twice = flags.reset?.find((flag) => named.has(RESETTABLE.get(flag) ?? flag));
  if (twice !== undefined) throw new UsageError(`Expected a value for --${twice} or --reset ${twice}, and not both.`);
  return nested([...named, ...reset.map((option) => [option, null] as const)]);
}

function namedOptions(flags: CronFlags): Map<string, unknown> {
  const same = SAME.map((name) => [name, flags[name]] as const);
  const otherwise = Object.entries(OTHERWISE).map(
    ([flag, option]) => [option, flags[flag as keyof typeof OTHERWISE]] as const,
  );
  const named = [...same, ...otherwise].filter(([, value]) => value !== undefined);
  // Not by its truth: `--payload null` is a value too.
  return new Map<string, unknown>([...named, ...(flags.payload ? [['payload', flags.payload.value] as const] : [])]);
}

/** `dst.gap` stands inside `dst`. */
function nested(options: readonly (readonly [string, unknown])[]): CronChanges {
  const changes: Record<string, unknown> = {};
  for (const [path, value] of options) {
    const [option = '', part] = path.split('.');
    changes[option] = part === undefined ? value : { ...Object(changes[option]), [part]: value };
  }
  return changes;
}
