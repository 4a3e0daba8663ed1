import { checkedOptions, redisOption, shownRedisOption, type RedisOption } from '@fencepost/lease/internal/options';
import type { OpenLeaseStore } from '@fencepost/lease/internal/place';
import type { ConnectionOptions } from 'node:tls';
import type { SqlPool } from '@fencepost/lease/postgres';
import { redactUrl } from '@fencepost/lease/internal/redis';
import { z } from 'zod';
import { MAX_EXPLICIT, MIN_EXPLICIT } from '@fencepost/ledger/catalog';
import { DEFAULT_POOL } from '../queue/routing.js';
import { APP_NAME, appName } from './application.js';
import { jobsEnvironment } from './environment.js';
import { duration, poolName } from './handler-options.js';
import { alarmsSchema, webhooksSchema, type AlarmOptions, type WebhookOptions } from './notification-options.js';

export { isRole, type Role } from './role.js';

/** A pool that can be closed, as each of `pg` can. */
export type OwnedPool = SqlPool & { end(): Promise<void> };

export interface PostgresOptions {
  /** `postgres://` or `postgresql://`; needs the package `pg`. */
  readonly url?: string;
  /**
   * A pool of `pg` instead, which stays the caller's to close: that of one's own rows, for `run.transaction`. The result of a
   * function is closed with the module.
   */
  readonly pool?: SqlPool | (() => OwnedPool | Promise<OwnedPool>);
  /** Beside `url`: called for each new connection, so that a password may rotate or be a token that expires. */
  readonly password?: () => string | Promise<string>;
  /** Beside `url`: TLS with more than `sslmode` says, such as `{ ca }`. */
  readonly ssl?: ConnectionOptions;
  /** Of the ledger's tables, which are made by `fencepost migrate`; default `fencepost`. */
  readonly schema?: string;
  /** Makes or changes the tables when the process starts; default `false`. Any number of processes may do so at once. */
  readonly migrate?: boolean;
}

/** Durations are texts such as `'10s'`, or milliseconds. */
export interface JobsModuleOptions {
  /**
   * One server: `redis://` or `rediss://`, with user, password and database where needed. Or `{ url, credentials, tls }`;
   * `{ sentinel }`, the primary that sentinels watch; `{ cluster }`; a connection of ioredis, or a function that returns one.
   */
  readonly redis: RedisOption;
  /** First part of every key; default `fencepost`. Deployments that share a Redis have different ones. */
  readonly prefix?: string;
  /** Whose crons they are, where several share a Redis; default `default`. */
  readonly tenant?: string;
  /** A label for people in front of this process' random identity; default: the host's name. */
  readonly pod?: string;
  /**
   * Where scheduler pods keep the leases of crons; default `'redis'`, the same one. `'postgres'`: in the database of the ledger.
   * `'quorum:redis://a:6379,redis://b:6379,redis://c:6379'`, `'etcd:http://a:2379,…'`: in a system of their own. Or a function
   * that opens a store, `(place) => ({ store, close })`; what it gets are prefix, tenant, clock and more, for its options.
   * The same for all pods and for the command line.
   */
  readonly leases?: string | OpenLeaseStore;
  /** How long a cron stays with a scheduler pod that died, `'300ms'` to `'1h'`; default `'10s'`. */
  readonly leaseTtl?: string | number;
  /** How long a run stays with a worker that died; default `'30s'`. */
  readonly runLease?: string | number;
  /** How many runs a worker carries out at once; default 10. */
  readonly concurrency?: number;
  /**
   * The pools whose crons and jobs a worker carries out; default: `FENCEPOST_POOLS`, else `['default']`. A cron or job is in the pool
   * that its option `pool` names.
   */
  readonly pools?: readonly string[];
  /** How long a worker that shuts down waits for its runs; default `'10s'`. */
  readonly drainDeadline?: string | number;
  /** How often a scheduler pod looks for runs that got stuck; default `'5s'`. */
  readonly sweepEvery?: string | number;
  /** How many finished runs of a cron the ledger keeps; default 1,000. */
  readonly keepRuns?: number;
  /** How long it keeps them at the most, `'1h'` to `'3650d'`; default `'30d'`. An instant whose run is forgotten never runs again. */
  readonly keepFor?: string | number;
  /**
   * Where runs and effects are recorded; default `'redis'`. With `'postgres'` nothing of them is lost with Redis, and an effect
   * can be committed together with one's own rows: `run.transaction`.
   */
  readonly ledger?: 'redis' | 'postgres';
  /** With `ledger: 'postgres'`: its address, or that and more. */
  readonly postgres?: string | PostgresOptions;
  /**
   * With the Redis ledger: how many replicas have to have what decides something before it counts; default 0. Where too few
   * answer in time nothing is begun, and all goes on when they are back. It costs a process one round trip between primary and
   * replica for each step of a run, and what comes while one is under way shares the next.
   */
  readonly waitReplicas?: number;
  /**
   * Your program, as the pods of one application name themselves; default: `FENCEPOST_APP`, else the name in its `package.json`.
   * A cron belongs to the app that declared it first. A cron that no live pod of its app declares is removed after
   * `removeAfter`.
   */
  readonly app?: string;
  /**
   * A whole number that is larger for newer definitions; default: `FENCEPOST_REVISION`, else the store numbers each set of
   * definitions in the order in which it first sees it. The newest revision with a live pod decides what a cron is.
   */
  readonly revision?: number;
  /** How long a cron is kept that no live pod of its app declares, while the app has live pods; default `'5m'`. */
  readonly removeAfter?: string | number;
  /** An expression whose instants may be closer than this is refused at boot, for crons that don't say so; default `'0ms'`. */
  readonly minInterval?: string | number;
  /** How many crons the tenant may have before a new one is refused at run time; default: any number. Those in code always count. */
  readonly maxCrons?: number;
  /**
   * Traces each run from its claim to its effects with OpenTelemetry, over all processes; default `false`. Needs the packages
   * `@opentelemetry/api` and `bullmq-otel`, and shows something where the process has registered an SDK.
   */
  readonly tracing?: boolean;
  /** Receivers of alarms and of the ends of runs; the same in scheduler pods and workers. Default: none. */
  readonly webhooks?: readonly WebhookOptions[];
  /**
   * Whether Nest's `Logger` gets a line at boot, warnings and errors at a bounded rate, and claimed occurrences at DEBUG; default
   * `true`. What `logEvents` writes is not changed by it: an application that calls it gets every event, and none twice.
   */
  readonly log?: boolean;
  readonly alarms?: AlarmOptions;
  /**
   * What a worker does at boot about decorated methods of its program that would never run, as those of a class that no module
   * provides: `'error'` refuses to start, `'warn'` logs them; default `'error'`, in a module of `Test.createTestingModule` `'warn'`.
   */
  readonly undiscovered?: 'error' | 'warn';
  /** `false`: the process has no role. It declares nothing and runs nothing; `Jobs` still enqueues. Default `true`. */
  readonly enabled?: boolean;
}

const word = (length: number) => {
  const expected = `expected 1 to ${length} letters, digits or . _ -`;
  return z.string(expected).regex(new RegExp(`^[A-Za-z0-9._-]{1,${length}}$`), expected);
};

const whole = (least: number, most: number) => {
  const expected = `expected a whole number from ${least} to ${most}`;
  return z.int(expected).min(least, expected).max(most, expected);
};

const POOLS = 'expected a list of pools, such as ["default", "heavy"]';
const poolNames = z.array(poolName, POOLS).min(1, POOLS).readonly();

const APP = 'expected a package name, such as "reports" or "@shop/reports"';

const DATABASE = 'expected an address such as postgres://user@localhost:5432/shop';
const POSTGRES = `${DATABASE}, or { url, password, ssl, schema, migrate } or { pool, … }`;
const POOL = 'expected a pool from the package pg, or a function that returns one';
const WHICH = 'expected either "url" or "pool"';
const POOL_ALONE = 'expected no "password" and no "ssl" beside "pool": the pool has them';
const PASSWORD = 'expected a function that returns the password';
const SSL = 'expected an object such as { ca }';
const ONE_SSL = 'expected either "ssl" or ssl settings in the address, such as sslmode';

const isDatabaseUrl = (text: string) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);

/** What has the methods of a pool is one: there may be two copies of `pg`, and then two classes. */
const isPool = (value: unknown): value is SqlPool =>
  typeof value === 'object' && value !== null && 'query' in value && 'connect' in value;

const isFunction = (value: unknown) => typeof value === 'function';
const isObject = (value: unknown) => typeof value === 'object' && value !== null;
const saysSsl = (url = '') => /[?&]ssl/.test(url);

const address = z.string(DATABASE).refine(isDatabaseUrl, DATABASE);
const NO_ACCESS = { password: undefined, ssl: undefined };

const postgres = z.union(
  [
    address.transform((url) => ({ ...{ url, pool: undefined, schema: 'fencepost', migrate: false }, ...NO_ACCESS })),
    z
      .strictObject({
        url: address.optional(),
        pool: z
          .custom<NonNullable<PostgresOptions['pool']>>((value) => isPool(value) || isFunction(value), POOL)
          .optional(),
        password: z.custom<NonNullable<PostgresOptions['password']>>(isFunction, PASSWORD).optional(),
        ssl: z.custom<ConnectionOptions>(isObject, SSL).optional(),
        schema: z.string('expected a name').min(1, 'expected a name').max(63, 'expected a name').default('fencepost'),
        migrate: z.boolean('expected true or false').default(false),
      })
      .refine(({ url, pool }) => (url === undefined) !== (pool === undefined), WHICH)
      .refine(({ url, password, ssl }) => url !== undefined || !(password ?? ssl), POOL_ALONE)
      .refine(({ url, ssl }) => !(ssl && saysSsl(url)), ONE_SSL),
  ],
  { error: (issue) => inObject(issue.input, issue.errors.at(-1)?.at(0)) ?? POSTGRES },
);

/** Of two forms, the object's first mistake says more than that it is neither. */
function inObject(given: unknown, issue: z.core.$ZodIssue | undefined): string | undefined {
  return isObject(given) && issue ? `${issue.message} in ${JSON.stringify(issue.path.join('.'))}` : undefined;
}

const LEASES =
  'expected "redis", "postgres", a system and its addresses such as "etcd:http://a:2379", or a function that opens a store';
const leases = z.union([z.string(), z.custom<OpenLeaseStore>(isFunction)], LEASES);

const schema = z
  .strictObject(
    {
      redis: redisOption,
      prefix: word(100).default('fencepost'),
      tenant: word(100).default('default'),
      pod: word(64).optional(),
      leases: leases.default('redis'),
      leaseTtl: duration('300ms', '1h').default(10_000),
      runLease: duration('300ms', '24h').default(30_000),
      concurrency: whole(1, 10_000).default(10),
      pools: poolNames.optional(),
      drainDeadline: duration('0ms', '1h').default(10_000),
      sweepEvery: duration('100ms', '1h').default(5_000),
      keepRuns: whole(0, 1_000_000).default(1_000),
      keepFor: duration('1h', '3650d').default(30 * 24 * 3_600_000),
      ledger: z.enum(['redis', 'postgres'], 'expected "redis" or "postgres"').default('redis'),
      postgres: postgres.optional(),
      waitReplicas: whole(0, 100).default(0),
      app: z.string(APP).regex(APP_NAME, APP).optional(),
      revision: whole(MIN_EXPLICIT, MAX_EXPLICIT).optional(),
      removeAfter: duration('1s', '7d').default(300_000),
      minInterval: duration('0ms', '7d').default(0),
      maxCrons: whole(1, 10_000_000).optional(),
      tracing: z.boolean('expected true or false').default(false),
      webhooks: webhooksSchema,
      log: z.boolean('expected true or false').default(true),
      alarms: alarmsSchema,
      undiscovered: z.enum(['error', 'warn'], 'expected "error" or "warn"').optional(),
      enabled: z.boolean('expected true or false').default(true),
    },
    'expected an object such as { redis: "redis://localhost:6379" }',
  )
  .superRefine(({ ledger, postgres: given }, context) => {
    if (ledger !== 'postgres' || given) return;
    const message = `${POSTGRES} beside ledger "postgres"`;
    context.addIssue({ code: 'custom', message, path: ['postgres'] });
  })
  .refine((given) => given.leases !== 'postgres' || given.ledger === 'postgres', {
    path: ['leases'],
    error: 'expected "postgres" only beside ledger "postgres", whose database it is',
  })
  .transform(
    ({ leaseTtl, runLease, drainDeadline, sweepEvery, minInterval, keepFor, removeAfter, app, revision, ...rest }) => ({
      ...rest,
      leaseTtlMs: leaseTtl,
      runLeaseMs: runLease,
      drainDeadlineMs: drainDeadline,
      sweepEveryMs: sweepEvery,
      minIntervalMs: minInterval,
      keepForMs: keepFor,
      removeAfterMs: removeAfter,
      app,
      revision,
    }),
  );

/** {@link JobsModuleOptions} as the rest of the library uses them. */
export type JobsSettings = Omit<z.output<typeof schema>, 'app' | 'revision' | 'pools'> & {
  readonly pools: readonly string[];
  readonly app: string;
  /** `null`: the store numbers the definitions. */
  readonly revision: number | null;
};

const hidden = (value: unknown) => JSON.stringify(redactUrl(String(value)));

/** @throws {SetupError} naming each wrong option or variable, what was expected, and what came */
export function jobsSettings(options: JobsModuleOptions): JobsSettings {
  const environment = jobsEnvironment();
  const secrets = {
    redis: shownRedisOption,
    leases: (value: unknown) => (typeof value === 'string' ? hidden(value) : typeof value),
    webhooks: (value: unknown) => (typeof value === 'string' ? 'a hidden value' : typeof value),
    postgres: (value: unknown) => (typeof value === 'string' ? hidden(value) : 'an object'),
  };
  const { app, revision, pools, ...settings } = checkedOptions({ owner: 'JobsModule', schema, secrets }, options);
  return {
    ...settings,
    app: app ?? environment.app ?? appName(),
    revision: revision ?? environment.revision ?? null,
    pools: pools ?? environment.pools ?? [DEFAULT_POOL],
  };
}
