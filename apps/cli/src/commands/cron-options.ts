import { Option, type Command } from 'commander';
import type { CronSettings } from '../jobs.js';
import { duration, json, positiveDuration, wholeNumber, type JsonValue } from '../option-values.js';
import { dstOf, withZoneOptions, type ZoneFlags } from './schedule-options.js';

/** What is called the same here and in the catalog. */
const SAME = [
  ...(['expression', 'handler', 'disabled', 'spread', 'minInterval'] as const),
  ...(['misfire', 'maxCatchUp', 'grace', 'catchUpWindow', 'startDeadline'] as const),
  ...(['overlap', 'maxConcurrency', 'cancelGrace'] as const),
  ...(['expectEvery', 'lateAfter'] as const),
] satisfies readonly (keyof CronSettings)[];

/** All that a cron is, but its name. */
export interface CronFlags extends ZoneFlags, Pick<CronSettings, (typeof SAME)[number]> {
  readonly payload?: JsonValue;
  readonly pingSuccess?: string;
  readonly pingFailure?: string;
  readonly pingMissed?: string;
  readonly pingUncertain?: string;
}

const MISFIRES = ['skip', 'fire-once', 'fire-all'] satisfies CronSettings['misfire'][];
const OVERLAPS = ['skip', 'queue-one', 'queue-all', 'replace', 'allow'] satisfies CronSettings['overlap'][];

export function withCronOptions(command: Command): Command {
  return withAlarmOptions(withOverlapOptions(withMisfireOptions(withWhatAndWhen(command))));
}

function withWhatAndWhen(command: Command): Command {
  const expressed = command.requiredOption('--expression <expression>', 'cron expression of 5 or 6 fields, in quotes');
  return withZoneOptions(expressed)
    .option('--handler <cron>', 'the declared cron whose handler carries its runs out (else its own)')
    .option('--payload <json>', 'what each run gets (default: null)', json)
    .option('--spread <duration>', 'over how long crons of the same expression are spread', duration)
    .option('--min-interval <duration>', 'refuse instants that are closer than this', duration)
    .option('--disabled', 'keep it, and do not fire it');
}

function withMisfireOptions(command: Command): Command {
  const misfire = new Option('--misfire <rule>', 'instants that nobody enqueued in time (default: fire-once)');
  return command
    .addOption(misfire.choices(MISFIRES))
    .option('--max-catch-up <n>', 'of fire-all: at most so many (default: 20)', wholeNumber(1, 1_000))
    .option(
      '--catch-up-window <duration>',
      'how far back, at least the grace (default: one period, at most 24h)',
      duration,
    )
    .option('--grace <duration>', 'later than this counts as late (default: 60s)', duration)
    .option(
      '--start-deadline <duration>',
      'skip a run that no worker has begun so long after it was due',
      positiveDuration,
    );
}

function withOverlapOptions(command: Command): Command {
  const overlap = new Option('--overlap <rule>', 'an instant while as many runs are going as may (default: skip)');
  return command
    .addOption(overlap.choices(OVERLAPS))
    .option('--max-concurrency <n>', 'how many runs may be going at once (default: 1)', wholeNumber(1, 1_000))
    .option('--cancel-grace <duration>', 'of replace: how long the older run may go on (default: 30s)', duration);
}

function withAlarmOptions(command: Command): Command {
  return command
    .option('--expect-every <duration>', 'raise an alarm when it has not succeeded for so long', positiveDuration)
    .option(
      '--late-after <duration>',
      'raise an alarm when a run has not ended so long after it was due',
      positiveDuration,
    )
    .option('--ping-success <url>', 'call this when a run has succeeded')
    .option('--ping-failure <url>', 'call this when a run has failed for good')
    .option('--ping-missed <url>', 'call this when an instant is missed or late')
    .option('--ping-uncertain <url>', 'call this when a run waits for a person');
}

function pingOf(flags: CronFlags): CronSettings['ping'] {
  const { pingSuccess: success, pingFailure: failure, pingMissed: missed, pingUncertain: uncertain } = flags;
  const given = Object.entries({ success, failure, missed, uncertain }).filter(([, url]) => url !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** What nobody has said is left out: the catalog knows its own defaults. */
export function settingsOf(flags: CronFlags): CronSettings {
  const [dst, ping] = [dstOf(flags), pingOf(flags)];
  const given = SAME.filter((name) => name in flags).map((name) => [name, flags[name]] as const);
  return {
    ...(Object.fromEntries(given) as Pick<CronFlags, (typeof SAME)[number]>),
    timeZone: flags.tz,
    ...(dst && { dst }),
    ...(ping && { ping }),
    ...(flags.payload && { payload: flags.payload.value }),
  };
}
