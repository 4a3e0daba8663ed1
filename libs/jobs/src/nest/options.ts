import { checkedOptions, isRedisUrl, redactUrl } from '@fencepost/lease';
import { z } from 'zod';
import { APP_NAME, appName } from './app-name.js';
import { buildTime } from './build-time.js';
import { duration } from './duration-option.js';

/** What a process does: campaign for crons and enqueue their occurrences, or run them. */
export type Role = 'scheduler' | 'worker';

/** Durations are texts such as `'10s'`, or milliseconds. */
export interface JobsModuleOptions {
  /** `redis://` or `rediss://`, with user, password and database where needed. */
  readonly redis: string;
  /** First part of every key; default `fencepost`. Deployments that share a Redis have different ones. */
  readonly prefix?: string;
  /** Whose crons they are, where several share a Redis; default `default`. */
  readonly tenant?: string;
  /** A label for people in front of this process' random identity; default: the host's name. */
  readonly pod?: string;
  /** How long a cron stays with a scheduler pod that died, `'300ms'` to `'1h'`; default `'10s'`. */
  readonly leaseTtl?: string | number;
  /** How long a run stays with a worker that died; default `'30s'`. */
  readonly runLease?: string | number;
  /** How many runs a worker carries out at once; default 10. */
  readonly concurrency?: number;
  /** How long a worker that shuts down waits for its runs; default `'10s'`. */
  readonly drainDeadline?: string | number;
  /** How often a scheduler pod looks for runs that got stuck; default `'5s'`. */
  readonly sweepEvery?: string | number;
  /** How many finished runs of a cron the ledger keeps; default 1,000. */
  readonly keepRuns?: number;
  /** Which build this is: only a higher one may redefine a cron. Default: when the program's files were written. */
  readonly buildSeq?: number;
  /**
   * Which program this is a build of, whatever its number; default: the name in the nearest `package.json`, with the
   * program's path where it isn't the package's main one. A higher build removes what an earlier one of the same program
   * declared and it doesn't, so programs with crons of their own have different ones. A program without any cron declares nothing, and removes nothing.
   */
  readonly app?: string;
  /** An expression whose instants may be closer than this is refused at boot, for crons that don't say so; default `'0ms'`. */
  readonly minInterval?: string | number;
}

const word = (length: number) => {
  const expected = `expected 1 to ${length} letters, digits or . _ -`;
  return z.string(expected).regex(new RegExp(`^[A-Za-z0-9._-]{1,${length}}$`), expected);
};

const whole = (least: number, most: number) => {
  const expected = `expected a whole number from ${least} to ${most}`;
  return z.int(expected).min(least, expected).max(most, expected);
};

const APP = 'expected a name as packages have them, such as "reports" or "@shop/reports"';
const REDIS = 'expected a Redis address such as redis://localhost:6379';

const schema = z
  .strictObject(
    {
      redis: z.string(REDIS).refine(isRedisUrl, REDIS),
      prefix: word(100).default('fencepost'),
      tenant: word(100).default('default'),
      pod: word(64).optional(),
      leaseTtl: duration('300ms', '1h').default(10_000),
      runLease: duration('300ms', '24h').default(30_000),
      concurrency: whole(1, 10_000).default(10),
      drainDeadline: duration('0ms', '1h').default(10_000),
      sweepEvery: duration('100ms', '1h').default(5_000),
      keepRuns: whole(0, 1_000_000).default(1_000),
      buildSeq: whole(0, Number.MAX_SAFE_INTEGER).optional(),
      app: z.string(APP).regex(APP_NAME, APP).optional(),
      minInterval: duration('0ms', '7d').default(0),
    },
    'expected an object such as { redis: "redis://localhost:6379" }',
  )
  .transform(({ leaseTtl, runLease, drainDeadline, sweepEvery, minInterval, buildSeq, app, ...rest }) => ({
    ...rest,
    leaseTtlMs: leaseTtl,
    runLeaseMs: runLease,
    drainDeadlineMs: drainDeadline,
    sweepEveryMs: sweepEvery,
    minIntervalMs: minInterval,
    buildSeq: buildSeq ?? buildTime(),
    app: app ?? appName(),
  }));

/** {@link JobsModuleOptions} as the rest of the library uses them. */
export type JobsSettings = z.output<typeof schema>;

/** @throws {SetupError} naming each wrong option, what was expected, and what came */
export function jobsSettings(options: JobsModuleOptions): JobsSettings {
  const secrets = { redis: (value: unknown) => JSON.stringify(redactUrl(String(value))) };
  return checkedOptions({ owner: 'JobsModule', schema, secrets }, options);
}
