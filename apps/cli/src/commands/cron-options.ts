import { Option, type Command } from 'commander';
import { UsageError } from '../exit.js';
import type { CronSettings } from '../jobs.js';
import { duration, json, positiveDuration, wholeNumber, type JsonValue } from '../option-values.js';
import { dstOf, withZoneOptions, type ZoneFlags } from './schedule-options.js';

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
    .option('--disabled', 'keep the definition, do not fire it');
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

function pingOf(flags: CronFlags): CronSettings['ping'] {
  const { pingSuccess: success, pingFailure: failure, pingMissed: missed, pingUncertain: uncertain } = flags;
  const given = Object.entries({ success, failure, missed, uncertain }).filter(([, url]) => url !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/**
 * What nobody has said is left out: the catalog knows its own defaults.
 * @throws {UsageError} for no schedule, and for two
 */
export function settingsOf(flags: CronFlags): CronSettings {
  if ((flags.expression === undefined) === (flags.every === undefined)) {
    throw new UsageError('Expected either --expression or --every, and not both.');
  }
  const [dst, ping] = [dstOf(flags), pingOf(flags)];
  const given = SAME.filter((name) => name in flags).map((name) => [name, flags[name]] as const);
  return {
    ...(Object.fromEntries(given) as Pick<CronFlags, (typeof SAME)[number]>),
    timeZone: flags.tz,
    ...(dst && { dst }),
    ...(ping && { ping }),
    ...(flags.tag && { tags: flags.tag }),
    ...(flags.payload && { payload: flags.payload.value }),
  };
}
