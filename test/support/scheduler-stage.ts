import { parseFence, type Clock, type Lease } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { MemoryLeaseStore, ManualClock } from '@fencepost/lease/testing';
import type { CatalogEntry, CronDefinition, DeclaredCron } from '@fencepost/ledger/catalog';
import { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import type { Ledger, LedgerTiming } from '@fencepost/ledger';
import { holdCron, MemoryMembership, SchedulerPod, type HeldCron } from '@fencepost/jobs/internal/scheduling';
import { Telemetry } from '@fencepost/jobs';
import { MemoryRunQueue, type MemoryRunQueueOptions } from '@fencepost/testing';
import { flaky, type Flaky } from './flaky.js';
import { recordedEvents, type RecordedEvents } from './recorded.js';
import { replaceDefinitions } from './replace-definitions.js';

export const START = Date.UTC(2030, 0, 1);
export const CRON = 'every-second';
export const TTL_MS = 9_000;

export function definition(over: Partial<CronDefinition> = {}): CronDefinition {
  return {
    name: CRON,
    expression: '* * * * * *',
    timeZone: 'UTC',
    misfire: 'fire-once',
    overlap: 'allow',
    graceMs: 60_000,
    catchUpWindowMs: null,
    ...over,
  };
}

export interface StageOptions {
  readonly timing?: Partial<LedgerTiming>;
  readonly work?: MemoryRunQueueOptions['work'];
  /** How far the pods' clocks run ahead of the store's. */
  readonly podsAheadMs?: number;
  readonly random?: () => number;
  readonly ttlMs?: number;
}

/** A scheduler pod, its parts, and what a test can do to it. */
export interface StagePod extends Pick<
  SchedulerPod,
  'dispatcher' | 'recovery' | 'engine' | 'acquirer' | 'catalogCache'
> {
  readonly pod: SchedulerPod;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly events: RecordedEvents;
  readonly keeper: LeaseKeeper;
  readonly ledger: Ledger;
  /** What stands between this pod alone and the ledger. */
  readonly own: Flaky<Ledger>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** As after SIGKILL: nothing of it happens any more, and nobody is told. */
  readonly crash: () => void;
  /** As after SIGSTOP: nothing of it happens until it is thawed, and then all that is late does. */
  readonly freeze: () => void;
  readonly thaw: () => void;
}

/** Knows the catalog as of now, until somebody says otherwise. */
function freshUntilTold(clock: Clock): { knownAt: number } {
  let told: number | null = null;
  return {
    get knownAt() {
      return told ?? clock.now();
    },
    set knownAt(at) {
      told = at;
    },
  };
}

/** Scheduler pods over one memory ledger, lease store, catalog and queue, all of which can fail. */
export class SchedulerStage {
  readonly clock = new ManualClock(START);
  readonly memoryLeases = new MemoryLeaseStore({ clock: this.clock });
  readonly leases = flaky(this.memoryLeases);
  readonly memoryCatalog = new MemoryCatalog(this.clock);
  readonly catalog = flaky(this.memoryCatalog);
  readonly membership = flaky(new MemoryMembership({ clock: this.clock, version: () => this.memoryCatalog.version }));
  readonly memoryLedger: MemoryLedger;
  readonly ledger;
  readonly memoryQueue: MemoryRunQueue;
  readonly queue;
  podsAheadMs: number;
  readonly #random: () => number;
  readonly #ttlMs: number;

  constructor({ timing = {}, work, podsAheadMs = 0, random = () => 0, ttlMs = TTL_MS }: StageOptions = {}) {
    this.memoryLedger = new MemoryLedger(this.clock, timing);
    this.ledger = flaky(this.memoryLedger);
    this.memoryQueue = new MemoryRunQueue({ clock: this.clock, ...(work ? { work } : {}) });
    this.queue = flaky(this.memoryQueue);
    this.podsAheadMs = podsAheadMs;
    this.#random = random;
    this.#ttlMs = ttlMs;
  }

  /** A scheduler pod. As long as it is not started, its parts can be used one by one, and it knows the catalog well. */
  pod(name = 'pod'): StagePod {
    const real = this.clock;
    let state: 'runs' | 'frozen' | 'dead' = 'runs';
    const late: (() => void)[] = [];
    const clock = {
      now: () => real.now() + this.podsAheadMs,
      monotonic: () => real.monotonic(),
      after: (delayMs: number, task: () => void) =>
        real.after(delayMs, () => (state === 'frozen' ? late.push(task) : state === 'runs' && task())),
    };
    const own = flaky<Ledger>(this.ledger.port);
    const [ledger, queue, catalog] = [own.port, this.queue.port, this.catalog.port];
    const [leases, membership] = [this.leases.port, this.membership.port];
    const telemetry = new Telemetry();
    const events = recordedEvents(telemetry);
    const keeper = new LeaseKeeper({ store: leases, clock, holder: `${name}/1` });
    const stores = { ledger, queue, catalog, membership, leases, keeper };
    const times = { ttlMs: this.#ttlMs, sweepEveryMs: 5_000, lookAgainMs: 10_000, keepRuns: 10_000 };
    const freshness = freshUntilTold(real);
    const pod = new SchedulerPod({ ...stores, ...times, clock, telemetry, freshness, random: this.#random });
    return {
      ...{ pod, clock, telemetry, events, keeper, ledger, own },
      ...{ dispatcher: pod.dispatcher, recovery: pod.recovery, engine: pod.engine },
      ...{ acquirer: pod.acquirer, catalogCache: pod.catalogCache },
      start: () => pod.start(),
      stop: () => pod.stop(),
      crash: () => void (state = 'dead'),
      freeze: () => void (state = 'frozen'),
      thaw: () => {
        state = 'runs';
        for (const task of late.splice(0)) task();
      },
    };
  }

  /** A cron as the catalog has it, accepted at the start unless said otherwise. */
  scheduled(over: Partial<CronDefinition> = {}, accepted: Partial<CatalogEntry> = {}): CatalogEntry {
    return {
      ...{ definition: definition(over), state: 'active', generation: 1, since: START, past: [] },
      ...{ by: 'test revision 1', reason: null, app: 'test', revision: 1, zoneData: process.versions.tz ?? 'unknown' },
      ...accepted,
    };
  }

  declare(revision: number, ...definitions: Partial<CronDefinition>[]): Promise<DeclaredCron[]> {
    const declarations = definitions.map((over) => ({ definition: definition(over), disabled: false }));
    return replaceDefinitions(this.catalog.port, declarations, { app: 'test', revision });
  }

  /** Who holds a cron, as the lease store has it. */
  async holder(cron = CRON): Promise<string | undefined> {
    const [holding] = await this.memoryLeases.inspect([cron]);
    return holding?.holder;
  }

  /** A lease as if it had been acquired, for tests of what happens after the acquirer. */
  lease(fence: number, cron = CRON): { readonly held: Lease; lose(): void } {
    const end = new AbortController();
    const release = async () => {
      end.abort();
      return true;
    };
    const held: Lease & { end(): void } = {
      // What the keeper calls on its own leases when it is asked to release this one.
      end: () => end.abort(),
      resource: cron,
      nonce: `term ${fence}`,
      holder: 'pod/1',
      fence: parseFence(fence.toFixed(0)),
      ttlMs: TTL_MS,
      trustedUntil: Infinity,
      acquiredAt: new Date(0),
      signal: end.signal,
      release,
      extend: async () => {},
      [Symbol.asyncDispose]: async () => void (await release()),
    };
    return { held, lose: () => end.abort() };
  }

  heldCron(fence = 1, entry = this.scheduled()): HeldCron {
    return { ...holdCron(entry, this.lease(fence, entry.definition.name).held), known: true };
  }

  /** Seconds since the start of every run of the cron, oldest first. */
  async ran(cron = CRON): Promise<number[]> {
    const runs = await this.memoryLedger.runs(cron, 100_000);
    return runs.map(({ scheduledAt }) => (scheduledAt - START) / 1_000).toReversed();
  }
}

const YEARLY = '0 0 1 6 *';

export const namesOf = (count: number) => Array.from({ length: count }, (_, n) => `cron-${n}`);

/** Several scheduler pods over many crons. */
export class BalanceStage extends SchedulerStage {
  readonly #pods: StagePod[] = [];

  async started(name: string): Promise<StagePod> {
    const pod = this.pod(name);
    this.#pods.push(pod);
    await pod.start();
    return pod;
  }

  declareMany(count: number, expression = YEARLY): Promise<DeclaredCron[]> {
    return this.declare(1, ...namesOf(count).map((name) => ({ name, expression })));
  }

  /** How many crons each holder has, as the lease store has it. */
  async holders(count: number): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const holding of await this.memoryLeases.inspect(namesOf(count))) {
      const holder = holding?.holder ?? 'nobody';
      counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    return counts;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#pods.splice(0).map((pod) => pod.stop()));
  }
}
