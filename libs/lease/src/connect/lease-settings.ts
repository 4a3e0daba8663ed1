import { z } from 'zod';
import { checkedOptions, isAmbiguous, parseDuration } from '../base/checked-options.js';
import { MAX_TTL_MS, MIN_TTL_MS } from '../store/lease-request.js';
import {
  redisOption,
  redisOptionIssue,
  redisTargetOf,
  shownRedisOption,
  type RedisOption,
} from '../redis/redis-option.js';
import type { RedisSource, RedisTarget } from '../redis/redis-target.js';
import type { Criticality } from '../store/finding.js';
import type { LeaseStore } from '../store/lease-store.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';

/** What `LeaseModule.forRoot` and `connectLeases` take. */
export interface LeaseModuleOptions {
  /**
   * One server: `redis://` or `rediss://`, with user, password and database where needed. Or `{ url, credentials, tls }`,
   * `{ sentinel }`, `{ cluster }`, a connection of ioredis, or a function that returns one.
   */
  readonly redis?: RedisOption;
  /** Another store instead of `redis`: PostgreSQL, etcd, ZooKeeper, Consul, a quorum, your own. The caller closes it. */
  readonly store?: LeaseStore;
  /** First part of every key; default `fencepost`. */
  readonly prefix?: string;
  /** Separates the resources of several users of one Redis; default `default`. */
  readonly tenant?: string;
  /** How long a lease lasts without renewal, `'300ms'` to `'1h'`; default `'10s'`. */
  readonly ttl?: string | number;
  /** A readable label in front of this process's random identity; default: the host's name. */
  readonly holder?: string;
  /**
   * What a lost lease costs. `'correctness'` refuses a Redis that can lose what it has acknowledged; `'efficiency'` says so in
   * a `store.warning`. Default `'efficiency'`.
   */
  readonly criticality?: Criticality;
  /** How many replicas must have a lease before it counts (`WAIT`); default 0. Refused together with `store`. */
  readonly waitForReplicas?: number;
  /** Receives every event: `leaseLog`, `leaseMetrics`, or your own. */
  readonly observe?: LeaseObserver;
  /**
   * Whether `LeaseModule` writes its warnings to Nest's `Logger`; default `true`. `observe` hears of them either way.
   * `'connection'`: only trouble of its connection, because `observe` logs the warnings about the server.
   */
  readonly log?: boolean | 'connection';
}

/** {@link LeaseModuleOptions} as the rest of the library uses them. */
export interface LeaseSettings {
  readonly redis?: RedisTarget | RedisSource;
  readonly store?: LeaseStore;
  readonly prefix: string;
  readonly tenant: string;
  readonly ttlMs: number;
  readonly holder?: string;
  readonly criticality: Criticality;
  readonly waitForReplicas: number;
  readonly observe?: LeaseObserver;
  readonly log: boolean | 'connection';
}

const word = (length: number) =>
  z.string(`expected 1 to ${length} letters, digits or . _ -`).regex(new RegExp(`^[A-Za-z0-9._-]{1,${length}}$`), {
    error: `expected 1 to ${length} letters, digits or . _ -`,
  });

const TTL = "expected a duration from '300ms' to '1h'";
const CRITICALITY = "expected 'efficiency' or 'correctness'";
const REPLICAS = 'expected a whole number of replicas from 0 to 10';

const schema = z.strictObject(
  {
    redis: redisOption.optional(),
    store: z.custom<LeaseStore>(isStore, 'expected a lease store, such as new PostgresLeaseStore(…)').optional(),
    prefix: word(200).default('fencepost'),
    tenant: word(200).default('default'),
    ttl: z
      .union([z.string(), z.number()], TTL)
      .refine(isTtl, { error: ({ input }) => ttlText(input) })
      .default('10s'),
    holder: word(64).optional(),
    criticality: z.enum(['efficiency', 'correctness'], CRITICALITY).default('efficiency'),
    waitForReplicas: z.int(REPLICAS).min(0, REPLICAS).max(10, REPLICAS).default(0),
    observe: z.custom<LeaseObserver>((value) => typeof value === 'function', 'expected a function').optional(),
    log: z.union([z.boolean(), z.literal('connection')], "expected true, false or 'connection'").default(true),
  },
  'expected an object such as { redis: "redis://localhost:6379" }',
);

const oneStore = schema
  .refine(({ redis, store }) => redis !== undefined || store !== undefined, {
    path: ['redis'],
    error: () => redisOptionIssue(undefined),
  })
  .refine(({ redis, store }) => redis === undefined || store === undefined, {
    path: ['redis'],
    error: 'expected none where a store is given',
  })
  .refine(({ waitForReplicas, store }) => waitForReplicas === 0 || store === undefined, {
    path: ['waitForReplicas'],
    error:
      'expected none where a store is given: it would wait for no replica. Give RedisLeaseStore its replication instead',
  });

/** @throws {SetupError} naming each invalid option, the expected form, and the value */
export function leaseSettings(options: LeaseModuleOptions, owner = 'LeaseModule'): LeaseSettings {
  const secrets = { redis: shownRedisOption, store: (value: unknown) => typeof value };
  const { ttl, redis, ...rest } = checkedOptions({ owner, schema: oneStore, secrets }, options);
  const target = redis === undefined ? undefined : redisTargetOf(redis);
  return { ...present(rest), ...(target ? { redis: target } : {}), ttlMs: parseDuration(ttl) };
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Without the keys that were given as `undefined`: an option not given and one given as nothing are the same. */
function present<T extends object>(options: T): Present<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>;
}

function isStore(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'acquire' in value && 'renew' in value;
}

function ttlText(value: unknown): string {
  return isAmbiguous(value) ? `${TTL} with its unit, '${value}s' or '${value}ms'` : TTL;
}

function isTtl(value: string | number): boolean {
  try {
    const ttlMs = parseDuration(value);
    return !isAmbiguous(value) && ttlMs >= MIN_TTL_MS && ttlMs <= MAX_TTL_MS;
  } catch {
    return false;
  }
}
