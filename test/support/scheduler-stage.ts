import { LeaseKeeper, MemoryLeaseStore, parseFence, type Lease } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import type { CatalogEntry, CronDefinition } from '../../libs/jobs/src/catalog/definition.js';
import { MemoryCatalog } from '../../libs/jobs/src/catalog/memory-catalog.js';
import type { LedgerTiming } from '../../libs/jobs/src/ledger/ledger-timing.js';
import { MemoryLedger } from '../../libs/jobs/src/ledger/memory-ledger.js';
import { parseSchedule } from '../../libs/jobs/src/schedule/schedule.js';
import { Dispatcher } from '../../libs/jobs/src/scheduling/dispatcher.js';
import { Engine, type ScheduledCron } from '../../libs/jobs/src/scheduling/engine.js';
import type { HeldCron } from '../../libs/jobs/src/scheduling/held-cron.js';
import { Recovery } from '../../libs/jobs/src/scheduling/recovery.js';
import { Roster } from '../../libs/jobs/src/scheduling/roster.js';
import { Telemetry } from '../../libs/jobs/src/telemetry/telemetry.js';
import { MemoryRunQueue, type MemoryRunQueueOptions } from '../../libs/jobs/src/testing/memory-run-queue.js';
import { flaky } from './flaky.js';
import { recordedEvents } from './recorded-events.js';

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
}

/** Scheduler pods over one memory ledger, lease store, catalog and queue, all of which can fail. */
export class SchedulerStage {
  readonly clock = new ManualClock(START);
  readonly leases = flaky(new MemoryLeaseStore({ clock: this.clock }));
  readonly catalog = flaky(new MemoryCatalog(this.clock));
  readonly memoryLedger: MemoryLedger;
  readonly ledger;
  readonly memoryQueue: MemoryRunQueue;
  readonly queue;
  podsAheadMs: number;
  readonly #random: () => number;

  constructor({ timing = {}, work, podsAheadMs = 0, random = () => 0 }: StageOptions = {}) {
    this.memoryLedger = new MemoryLedger(this.clock, timing);
    this.ledger = flaky(this.memoryLedger);
    this.memoryQueue = new MemoryRunQueue({ clock: this.clock, ...(work ? { work } : {}) });
    this.queue = flaky(this.memoryQueue);
    this.podsAheadMs = podsAheadMs;
    this.#random = random;
  }

  /** A scheduler pod; `start` has it campaign for what is in the catalog. */
  pod(name = 'pod') {
    const { leases } = this;
    const real = this.clock;
    const clock = {
      now: () => real.now() + this.podsAheadMs,
      monotonic: () => real.monotonic(),
      after: (delayMs: number, task: () => void) => real.after(delayMs, task),
    };
    const [ledger, queue, catalog] = [this.ledger.port, this.queue.port, this.catalog.port];
    const telemetry = new Telemetry();
    const events = recordedEvents(telemetry);
    const keeper = new LeaseKeeper({ store: leases.port, clock, holder: `${name}/1` });
    const dispatcher = new Dispatcher({ ledger, queue, clock, telemetry });
    const recovery = new Recovery({ ledger, queue, dispatcher, telemetry, lookAgainMs: 10_000, keepRuns: 10_000 });
    const engine = new Engine({ ledger, dispatcher, recovery, clock, telemetry, sweepEveryMs: 5_000 });
    const random = this.#random;
    const roster = new Roster({ catalog, engine, ledger, keeper, clock, telemetry, random, ttlMs: TTL_MS });
    return { clock, telemetry, events, keeper, dispatcher, recovery, engine, roster, ledger };
  }

  /** A cron as the catalog has it, accepted at the start unless said otherwise. */
  scheduled(over: Partial<CronDefinition> = {}, accepted: Partial<CatalogEntry> = {}): ScheduledCron {
    const text = definition(over);
    const entry = { definition: text, generation: 1, since: START, ...accepted };
    return { entry, schedule: parseSchedule({ ...text, seed: text.name }, START) };
  }

  /** A lease as if it had been acquired, for who tests below the campaign. */
  lease(fence: number, cron = CRON): { readonly held: Lease; lose(): void } {
    const end = new AbortController();
    const release = async () => {
      end.abort();
      return true;
    };
    const held: Lease = {
      resource: cron,
      nonce: `term ${fence}`,
      holder: 'pod/1',
      fence: parseFence(fence.toFixed(0)),
      ttlMs: TTL_MS,
      trustedUntil: Infinity,
      signal: end.signal,
      release,
      [Symbol.asyncDispose]: async () => void (await release()),
    };
    return { held, lose: () => end.abort() };
  }

  heldCron(fence = 1, cron = this.scheduled()): HeldCron {
    return {
      ...cron,
      lease: this.lease(fence).held,
      cursor: null,
      known: true,
      failures: 0,
      aheadMs: 0,
      drop: () => {},
    };
  }

  /** Seconds since the start of every run of the cron, oldest first. */
  async ran(cron = CRON): Promise<number[]> {
    const runs = await this.memoryLedger.runs(cron, 100_000);
    return runs.map(({ scheduledAt }) => (scheduledAt - START) / 1_000).toReversed();
  }
}
