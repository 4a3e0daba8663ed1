import { LeaseKeeper } from '@fencepost/lease/internal';
import { MemoryLeaseStore, ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import type { Ledger } from '@fencepost/ledger';
import { flaky } from '../../../../test/support/flaky.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { definition, START } from '../../../../test/support/scheduler-stage.js';
import { MemoryTransaction, TransactionalMemory } from './transactional-memory.stage.js';
import { Jobs } from '../enqueuing/jobs.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { MemoryRunQueue } from '@fencepost/testing';
import { MemoryMembership } from '../membership/memory-membership.js';
import { SchedulerPod } from './scheduler-pod.js';

const JOB = 'send-mail';
const SWEEP_MS = 5_000;

/** Scheduler pods over a ledger with an outbox, and a program that enqueues. */
class Stage {
  readonly clock = new ManualClock(START);
  readonly catalog = new MemoryCatalog(this.clock);
  readonly membership = new MemoryMembership({ clock: this.clock, version: () => this.catalog.version });
  readonly memory = new TransactionalMemory(this.clock);
  readonly ledger = flaky(this.memory);
  readonly queue = new MemoryRunQueue({ clock: this.clock });
  readonly flakyQueue = flaky(this.queue);
  readonly leases = new MemoryLeaseStore({ clock: this.clock });
  readonly telemetry = new Telemetry();
  readonly events = recordedEvents(this.telemetry);
  readonly jobs = this.#jobs();

  #jobs(): Jobs {
    const { catalog, membership, queue, clock, memory: ledger } = this;
    return new Jobs({ catalog, membership, queue, clock, ledger });
  }

  static async set(): Promise<Stage> {
    const stage = new Stage();
    const job = definition({ name: JOB, expression: '@manual' });
    await stage.catalog.declare([{ definition: job, disabled: false }], { app: 'test', revision: 1 });
    return stage;
  }

  /** Started, and given the time to take what is its share, and to sweep it until there is nothing left to sweep. */
  async pod(name: string, ledger: Ledger = this.ledger.port): Promise<SchedulerPod> {
    const { catalog, membership, leases, clock, telemetry } = this;
    const keeper = new LeaseKeeper({ store: leases, clock, holder: `${name}/1` });
    const stores = { catalog, membership, leases, keeper, ledger, queue: this.flakyQueue.port };
    const times = { ttlMs: 9_000, sweepEveryMs: SWEEP_MS, lookAgainMs: 10_000, keepRuns: 10 };
    const pod = new SchedulerPod({ ...stores, ...times, clock, telemetry, random: () => 0 });
    const started = pod.start();
    await clock.advance(0);
    await started;
    await clock.advance(2 * SWEEP_MS + 1_000);
    return pod;
  }

  async enqueue(...keys: readonly string[]): Promise<string[]> {
    const tx = new MemoryTransaction();
    const runs = [];
    for (const idempotencyKey of keys) runs.push(await this.jobs.enqueueIn(tx, JOB, null, { idempotencyKey }));
    await tx.commit();
    return runs.map(({ runId }) => runId);
  }

  async states(runIds: readonly string[]): Promise<Set<string | undefined>> {
    return new Set((await Promise.all(runIds.map((runId) => this.memory.readRun(runId)))).map((run) => run?.state));
  }
}

describe('a run that was asked for in a transaction', () => {
  it('is handed to the queue at once when the transaction has committed, and its cron is swept from then on', async () => {
    const stage = await Stage.set();
    const pod = await stage.pod('a');
    const [runId = ''] = await stage.enqueue('one');
    await stage.clock.advance(0);
    expect(stage.queue.taken).toEqual([{ runId, delivery: 1 }]);
    expect(await stage.states([runId])).toEqual(new Set(['enqueued']));
    stage.queue.wipe();
    // Sooner than all crons are asked about once again, which would find it too.
    await stage.clock.advance(40_000);
    expect(stage.queue.taken.at(-1)).toMatchObject({ runId, delivery: expect.any(Number) });
    expect(stage.queue.taken.length).toBeGreaterThan(1);
    await pod.stop();
    expect(stage.clock.pending).toBe(0);
  });

  it('is nothing when the transaction is rolled back', async () => {
    const stage = await Stage.set();
    const pod = await stage.pod('a');
    const tx = new MemoryTransaction();
    const { runId } = await stage.jobs.enqueueIn(tx, JOB);
    tx.rollback();
    await tx.commit();
    await stage.clock.advance(60_000);
    expect(stage.queue.taken).toEqual([]);
    expect(await stage.memory.readRun(runId)).toBeNull();
    await pod.stop();
  });

  it('costs seconds when the hint got lost', async () => {
    const stage = await Stage.set();
    stage.memory.deaf = true;
    const pod = await stage.pod('a');
    const runs = await stage.enqueue('one', 'two');
    await stage.clock.advance(0);
    expect(stage.queue.taken).toEqual([]);
    await stage.clock.advance(SWEEP_MS);
    expect(stage.queue.taken.map(({ runId }) => runId)).toEqual(runs);
    await pod.stop();
  });

  it('is handed over with hundreds of others, none of which waits for the next look', async () => {
    const stage = await Stage.set();
    stage.memory.deaf = true;
    const pod = await stage.pod('a');
    const runs = await stage.enqueue(...Array.from({ length: 350 }, (_, n) => `n${n}`));
    await stage.clock.advance(SWEEP_MS);
    expect(new Set(stage.queue.taken.map(({ runId }) => runId))).toEqual(new Set(runs));
    expect(await stage.states(runs)).toEqual(new Set(['enqueued']));
    await pod.stop();
  });

  it('is one job of the queue although two pods hand it over', async () => {
    const stage = await Stage.set();
    stage.memory.deaf = true;
    const pods = [await stage.pod('a'), await stage.pod('b')];
    await stage.enqueue('one');
    await stage.clock.advance(SWEEP_MS + 3_000);
    expect(stage.queue.taken).toHaveLength(1);
    expect(stage.ledger.calls.filter((call) => call === 'waitingCrons').length).toBeGreaterThan(1);
    await Promise.all(pods.map((pod) => pod.stop()));
  });

  it('is looked after by one of the pods that hear of it', async () => {
    const stage = await Stage.set();
    const pods = [await stage.pod('a'), await stage.pod('b')];
    const before = stage.ledger.calls.length;
    await stage.enqueue('one');
    await stage.clock.advance(0);
    expect(stage.ledger.calls.slice(before)).toEqual(['pending', 'confirm']);
    await Promise.all(pods.map((pod) => pod.stop()));
  });

  it.each(['pending', 'confirm'] as const)('is handed over later when the ledger does not answer: %s', async (call) => {
    const stage = await Stage.set();
    const pod = await stage.pod('a');
    stage.ledger.next(call, 'fail');
    const [runId = ''] = await stage.enqueue('one');
    await stage.clock.advance(0);
    expect(stage.events.of('store.failed')).toMatchObject([{ operation: 'outbox.relay', cron: JOB }]);
    await stage.clock.advance(SWEEP_MS);
    expect(await stage.states([runId])).toEqual(new Set(['enqueued']));
    await pod.stop();
  });

  it('is handed over later when the queue was away', async () => {
    const stage = await Stage.set();
    const pod = await stage.pod('a');
    stage.flakyQueue.next('enqueue', 'fail');
    const [runId = ''] = await stage.enqueue('one');
    await stage.clock.advance(0);
    expect(await stage.states([runId])).toEqual(new Set(['claimed']));
    await stage.clock.advance(SWEEP_MS);
    expect(await stage.states([runId])).toEqual(new Set(['enqueued']));
    await pod.stop();
  });
});

describe('a pod with an outbox', () => {
  it('leaves nothing behind when it stops', async () => {
    const stage = await Stage.set();
    const pod = await stage.pod('a');
    expect(stage.memory.listeners).toBe(1);
    await pod.stop();
    expect(stage.memory.listeners).toBe(0);
    expect(stage.clock.pending).toBe(0);
    await stage.enqueue('one');
    await stage.clock.advance(60_000);
    expect(stage.queue.taken).toEqual([]);
  });

  it('has none over a ledger without transactions', async () => {
    const stage = await Stage.set();
    const pod = await stage.pod('a', new MemoryLedger(stage.clock));
    await stage.clock.advance(60_000);
    expect(stage.memory.listeners).toBe(0);
    expect(stage.ledger.calls).toEqual([]);
    await pod.stop();
  });
});
