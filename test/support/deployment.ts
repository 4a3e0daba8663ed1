import { afterEach, beforeEach } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import type { Run } from '@fencepost/ledger/run';
import { systemClock } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis, RedisLeaseStore, type RedisClient, type RedisTarget } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { EFFECTIVE_AFTER_MS, type CatalogEntry, type Declaration } from '@fencepost/ledger/catalog';
import { CronCatalog, CronOperator } from '@fencepost/operations';
import { Telemetry } from '@fencepost/jobs';
import { BullmqRunQueue, RedisMembership } from '@fencepost/jobs/internal';
import { assignBound, candidates } from '@fencepost/jobs/internal/scheduling';
import { usePods, type Pods } from './pods.js';
import { redisEnvironment, freshPrefix, testRedis } from './redis.js';
import { until } from './until.js';

/** Shorter than any deployment would have them, so that a test can wait them out. */
const SHORT_TIMES = {
  FENCEPOST_LEASE_TTL: '1s',
  FENCEPOST_RUN_LEASE: '1500ms',
  FENCEPOST_SWEEP_EVERY: '200ms',
  FENCEPOST_APP: 'test-worker',
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
  readonly queue: BullmqRunQueue;
  /** What a person does to the crons, from a process that is neither scheduler nor worker. */
  readonly operator: CronOperator;
  readonly crons: CronCatalog;
}

/** The first full second at or after `from`, and an expression that fires at it and at no other instant of the year. */
export function onlyAt(from: number): { instant: number; expression: string } {
  const instant = new Date(Math.ceil(from / 1_000) * 1_000);
  const fields = [instant.getUTCSeconds(), instant.getUTCMinutes(), instant.getUTCHours(), instant.getUTCDate()];
  return { instant: instant.getTime(), expression: [...fields, instant.getUTCMonth() + 1, '*'].join(' ') };
}

function declarationOf(name: string, expression: string): Declaration {
  const definition: CronDefinition = {
    name,
    expression,
    timeZone: 'UTC',
    misfire: 'fire-once',
    overlap: 'skip',
    graceMs: 60_000,
    catchUpWindowMs: null,
  };
  return { definition, disabled: false };
}

/** A pod's identity begins with its name. */
function nameIn(identity: string): string {
  return identity.split('/')[0] ?? '';
}

/** Pods on a key space of their own, and its stores seen from outside: what they hold is what counts. */
export class Deployment {
  prefix = '';
  #stores: Stores | undefined;

  constructor(
    readonly pods: Pods,
    private readonly address: () => string | RedisTarget,
  ) {}

  get stores(): Stores {
    if (!this.#stores) throw new Error('Expected to be used inside of a test, after its beforeEach.');
    return this.#stores;
  }

  async open(env: Readonly<Record<string, string>>): Promise<void> {
    this.prefix = freshPrefix();
    const address = this.address();
    const target = typeof address === 'string' ? { url: address } : address;
    Object.assign(this.pods.env, SHORT_TIMES, redisEnvironment(target), { FENCEPOST_PREFIX: this.prefix }, env);
    const redis = await connectRedis({ ...target, commandTimeoutMs: 2_000, name: 'test' });
    const space = { redis, prefix: this.prefix, tenant: TENANT };
    const [ledger, catalog, membership] = [new RedisLedger(space), new RedisCatalog(space), new RedisMembership(space)];
    const routed = { ...space, catalog, ledger, telemetry: new Telemetry(), onTrouble: () => {} };
    const queue = await BullmqRunQueue.openRouted(routed);
    this.#stores = {
      ...{ redis, ledger, catalog, queue },
      leases: new RedisLeaseStore({ ...space, kind: 'cron' }),
      sink: new RedisFencedRows({ ...space, table: 'test-sink' }),
      operator: new CronOperator({ catalog, ledger, queue, membership, clock: systemClock }),
      crons: new CronCatalog({ catalog, clock: systemClock }),
    };
  }

  async close(): Promise<void> {
    const stores = this.#stores;
    this.#stores = undefined;
    await stores?.queue.close();
    if (stores) await closeRedis(stores.redis);
  }

  /** The name of the scheduler pod that holds the cron, as the lease store has it. */
  async holderOf(cron: string): Promise<string | null> {
    const [holding] = await this.stores.leases.inspect([cron]);
    return holding ? nameIn(holding.holder) : null;
  }

  /**
   * The name of the scheduler pod that holds the cron, once it has come to the one of `count` pods that it stays with: while
   * pods join, a cron may be with one of them and be given up at once.
   */
  async homeOf(cron: string, count: number): Promise<string> {
    const { leases } = this.stores;
    return until(`${cron} is with the pod it stays with`, async () => {
      const [pods, [holding]] = [await this.#pods(), await leases.inspect([cron])];
      const { entries } = await this.stores.catalog.read();
      const crons = entries.map(({ definition: { name } }) => ({ name, hash: candidates([name])[0]!.hash >>> 0 }));
      const home = assignBound(crons, candidates(pods)).get(cron);
      return pods.length === count && holding?.holder === home && home !== undefined && nameIn(home);
    });
  }

  /** The scheduler pods that were heard within the last three seconds and a half, by name. */
  async #pods(): Promise<string[]> {
    const key = redisKeys({ prefix: this.prefix, tenant: TENANT })('catalog', 'heartbeats');
    const entries = await this.stores.redis.xrange(key, Date.now() - MEMBER_GONE_MS, '+');
    const live = new Set<string>();
    for (const [, [kind, name = '']] of entries) {
      if (kind === 'pod') live.add(name);
      else if (kind === 'left') live.delete(name);
    }
    return [...live].toSorted();
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
   * Makes the cron fire at one instant and never again, as a person would who changes it at run time.
   * @param inMs how far away the instant is at least; further when the change is not effective by then
   * @returns the instant, epoch milliseconds
   */
  async fireOnce(cron: string, inMs: number = IN_TIME_MS): Promise<number> {
    const known = await this.entryOf(cron);
    const minMs = known ? Math.max(inMs, EFFECTIVE_AFTER_MS + IN_TIME_MS) : inMs;
    const { instant, expression } = onlyAt(Date.now() + minMs);
    const order = { expected: known?.generation ?? null, by: 'the test', reason: null };
    const reply = await this.stores.catalog.put(declarationOf(cron, expression), order);
    if (reply.verdict === 'moved') throw new Error(`Expected nobody else to change ${cron} meanwhile.`);
    return instant;
  }

  /** Declares the cron as a revision older than every pod's. */
  async declareBefore(cron: string): Promise<void> {
    const first = { app: SHORT_TIMES.FENCEPOST_APP, revision: 0 };
    await this.stores.catalog.declare([declarationOf(cron, '0 0 1 1 *')], first);
  }

  async entryOf(cron: string): Promise<CatalogEntry | undefined> {
    const { entries } = await this.stores.catalog.read();
    return entries.find(({ definition }) => definition.name === cron);
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

const MEMBER_GONE_MS = 3_500;

/**
 * A fresh deployment for each test of the file.
 * @param env of every pod, on top of what makes them hurry
 * @param address of the Redis, asked before each test
 */
export function useDeployment(
  env: Readonly<Record<string, string>> = {},
  address: () => string | RedisTarget = testRedis,
): Deployment {
  const deployment = new Deployment(usePods(), address);
  beforeEach(() => deployment.open(env));
  afterEach(() => deployment.close());
  return deployment;
}
