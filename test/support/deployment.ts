import { afterEach, beforeEach } from 'vitest';
import { RedisCatalog, RedisLedger, type CronDefinition, type Run } from '@fencepost/jobs';
import { closeRedis, connectRedis, RedisFencedRows, RedisLeaseStore, type RedisClient } from '@fencepost/lease';
import { usePods, type Pods } from './pods.js';
import { freshPrefix, testRedis } from './redis.js';
import { until } from './until.js';

/** Shorter than any deployment would have them, so that a test can wait them out. */
const HURRIED = {
  FENCEPOST_LEASE_TTL: '1s',
  FENCEPOST_RUN_LEASE: '1500ms',
  FENCEPOST_SWEEP_EVERY: '200ms',
  // Not the time of the build: what a test declares itself is to be the newer.
  FENCEPOST_BUILD_SEQ: '1',
};

const ALL = 10_000;
const TENANT = 'default';
const IN_TIME_MS = 600;

interface Stores {
  readonly redis: RedisClient;
  readonly ledger: RedisLedger;
  readonly leases: RedisLeaseStore;
  readonly catalog: RedisCatalog;
  readonly sink: RedisFencedRows;
}

/** Pods on a key space of their own, and its stores seen from outside: what they hold is what counts. */
export class Deployment {
  prefix = '';
  #stores: Stores | undefined;
  #declared = 1;

  constructor(
    readonly pods: Pods,
    private readonly address: () => string,
  ) {}

  get stores(): Stores {
    if (!this.#stores) throw new Error('Expected to be used inside of a test, after its beforeEach.');
    return this.#stores;
  }

  async open(env: Readonly<Record<string, string>>): Promise<void> {
    this.prefix = freshPrefix();
    const url = this.address();
    Object.assign(this.pods.env, HURRIED, { REDIS_URL: url, FENCEPOST_PREFIX: this.prefix }, env);
    const redis = await connectRedis({ url, commandTimeoutMs: 2_000, name: 'test' });
    const space = { redis, prefix: this.prefix, tenant: TENANT };
    this.#stores = {
      redis,
      ledger: new RedisLedger(space),
      leases: new RedisLeaseStore(space),
      catalog: new RedisCatalog(space),
      sink: new RedisFencedRows({ ...space, table: 'test-sink' }),
    };
  }

  async close(): Promise<void> {
    if (this.#stores) await closeRedis(this.#stores.redis);
    this.#stores = undefined;
  }

  /** The name of the scheduler pod that holds the cron, as the lease store has it. */
  async holderOf(cron: string): Promise<string | null> {
    const [holding] = await this.stores.leases.inspect([cron]);
    return holding ? (holding.holder.split('/')[0] ?? null) : null;
  }

  /** @returns the new holder's name, and how long it took from the call on, milliseconds */
  async otherHolderOf(cron: string, than: string): Promise<{ holder: string; tookMs: number }> {
    const since = performance.now();
    const holder = await until(`another pod than ${than} holds ${cron}`, async () => {
      const current = await this.holderOf(cron);
      return current !== than && current;
    });
    return { holder, tookMs: performance.now() - since };
  }

  /**
   * Makes the cron fire at one instant and never again, by declaring it as a newer build would.
   * @param inMs how far away the instant is at least
   * @returns the instant, epoch milliseconds
   */
  async fireOnce(cron: string, inMs: number = IN_TIME_MS): Promise<number> {
    const instant = new Date(Math.ceil((Date.now() + inMs) / 1_000) * 1_000);
    const fields = [instant.getUTCSeconds(), instant.getUTCMinutes(), instant.getUTCHours(), instant.getUTCDate()];
    await this.#declare(cron, [...fields, instant.getUTCMonth() + 1, '*'].join(' '), (this.#declared += 1));
    return instant.getTime();
  }

  /** Declares the cron as a build older than every pod's. */
  async declareBefore(cron: string): Promise<void> {
    await this.#declare(cron, '0 0 1 1 *', 0);
  }

  async #declare(name: string, expression: string, buildSeq: number): Promise<void> {
    const definition: CronDefinition = {
      name,
      expression,
      timeZone: 'UTC',
      misfire: 'fire-once',
      overlap: 'skip',
      graceMs: 60_000,
      catchUpWindowMs: null,
    };
    await this.stores.catalog.declare([{ definition, disabled: false }], buildSeq);
  }

  /** All runs of the cron, the oldest instant first. */
  async runsOf(cron: string): Promise<Run[]> {
    return (await this.stores.ledger.runs(cron, ALL)).toReversed();
  }

  /** The cron's only run, once it has come to its end. */
  async onlyRunOf(cron: string): Promise<Run> {
    await this.settled(cron);
    const runs = await this.runsOf(cron);
    const [run] = runs;
    if (runs.length !== 1 || !run) throw new Error(`Expected one run of ${cron}, found ${runs.length}.`);
    return run;
  }

  /** Until the cron has runs, and none of them can change any more. */
  async settled(cron: string): Promise<void> {
    await until(`every run of ${cron} has ended`, async () => {
      const runs = await this.runsOf(cron);
      return runs.length > 0 && runs.every(({ finishedAt }) => finishedAt !== null);
    });
  }

  /** Names of the effects of a run that reached the sink, in their order. */
  async effectsOf(runId: string): Promise<string[]> {
    const keys = (await this.written()).filter((key) => key.startsWith(`${runId}/`));
    return keys.map((key) => key.slice(runId.length + 1)).filter((name) => !name.startsWith('attempt-'));
  }

  /** Idempotency keys of the writes the sink has accepted, in their order. */
  async written(): Promise<string[]> {
    return (await this.stores.sink.journal()).map(({ idempotencyKey }) => idempotencyKey);
  }
}

/**
 * A fresh deployment for each test of the file.
 * @param env of every pod, on top of what makes them hurry
 * @param address of the Redis, asked before each test
 */
export function useDeployment(
  env: Readonly<Record<string, string>> = {},
  address: () => string = testRedis,
): Deployment {
  const deployment = new Deployment(usePods(), address);
  beforeEach(() => deployment.open(env));
  afterEach(() => deployment.close());
  return deployment;
}
