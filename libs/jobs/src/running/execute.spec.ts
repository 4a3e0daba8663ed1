import { UnrecoverableError } from 'bullmq';
import { StaleFenceError, parseFence } from '@fencepost/lease';
import { afterEach, describe, expect, it } from 'vitest';
import { CRON, RUN, RUN_LEASE_MS, standing, START, WorkerStage } from '../../../../test/support/worker-stage.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

describe('a delivery', () => {
  it('is carried out and settled', async () => {
    stage = await WorkerStage.with();
    expect(await stage.deliver(() => {})).toEqual({ kind: 'settled' });
    expect(stage.events.names).toEqual(['attempt.begun', 'attempt.succeeded']);
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'succeeded', attempt: 1, worker: 'worker/1' });
  });

  it('waits while another attempt is alive', async () => {
    stage = await WorkerStage.with();
    await stage.takenOver();
    expect(await stage.deliver(() => {})).toEqual({ kind: 'later', waitMs: 60_000 });
    expect(stage.events.of('attempt.postponed')).toMatchObject([{ verdict: 'busy', waitMs: 60_000 }]);
  });

  it('waits while its retry is not due', async () => {
    stage = await WorkerStage.with();
    await stage.deliver(() => Promise.reject(new Error('no')), { delayMs: 8_000 });
    await stage.manual.advance(1_000);
    expect(await stage.deliver(() => {})).toEqual({ kind: 'later', waitMs: 3_000 });
    expect(stage.events.of('attempt.postponed')).toMatchObject([{ verdict: 'not-due' }]);
  });

  it('is settled without a try when its run is finished, or was never recorded', async () => {
    stage = await WorkerStage.with();
    await stage.deliver(() => {});
    let again = 0;
    expect(await stage.deliver(() => void (again += 1))).toEqual({ kind: 'settled' });
    await stage.memoryLedger.forgetAll([CRON], 0);
    expect(await stage.deliver(() => void (again += 1))).toEqual({ kind: 'settled' });
    expect(again).toBe(0);
    expect(stage.events.of('attempt.needless').map(({ state }) => state)).toEqual(['succeeded', 'missing']);
  });

  it('is settled without a try when every attempt is used up', async () => {
    stage = await WorkerStage.with();
    await stage.deliver(() => Promise.reject(new Error('no')), { attempts: 2 });
    await stage.manual.advance(1_000);
    expect(await stage.deliver(() => {}, { attempts: 1 })).toEqual({ kind: 'settled' });
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('used up'),
    });
    // Nobody else tells of this failure, and a delivery that comes again is told that the run is over.
    expect(await stage.deliver(() => {}, { attempts: 1 })).toEqual({ kind: 'settled' });
    const reason = 'every attempt is used up; the last one never reported';
    expect(stage.events.of('run.exhausted')).toEqual([{ cron: CRON, runId: RUN, attempt: 1, reason }]);
  });

  it.each(['fail', 'lose-reply'] as const)('comes again soon when its begin gets lost: %s', async (mishap) => {
    stage = await WorkerStage.with();
    stage.ledger.next('begin', mishap);
    let handled = 0;
    expect(await stage.deliver(() => void (handled += 1))).toEqual({ kind: 'later', waitMs: 1_000 });
    expect(handled).toBe(0);
    expect(stage.events.of('store.failed')).toMatchObject([{ operation: 'attempt.begin', runId: RUN }]);
  });
});

describe('a handler', () => {
  it('receives everything about its run', async () => {
    stage = await WorkerStage.with({ lateByMs: 1_500 });
    let got: RunContext | undefined;
    await stage.deliver((run) => void (got = run));
    expect(got).toMatchObject({
      ...{ id: RUN, cron: CRON, idempotencyKey: RUN, attempt: 1, reason: 'schedule', missed: null, lateByMs: 1_500 },
      ...{ scheduledAt: new Date(START), dueAt: new Date(START) },
    });
    expect(got?.payload).toBeNull();
    expect(got?.fence).toBeGreaterThan(0);
    expect(got?.signal.aborted).toBe(false);
  });

  it('that throws is tried again after its delay, which doubles, as the same run under a larger fence', async () => {
    stage = await WorkerStage.with();
    const seen: [number, number][] = [];
    const fail = ({ attempt, fence }: RunContext) => {
      seen.push([attempt, fence]);
      throw new TypeError('not today');
    };
    expect(await stage.deliver(fail)).toEqual({ kind: 'later', waitMs: 500 });
    await stage.manual.advance(500);
    expect(await stage.deliver(fail)).toEqual({ kind: 'later', waitMs: 1_000 });
    await stage.manual.advance(1_000);
    const failed = await stage.deliver(fail);
    expect(failed).toMatchObject({ kind: 'failed', error: expect.any(TypeError) });
    expect(seen.map(([attempt]) => attempt)).toEqual([1, 2, 3]);
    expect(seen.map(([, fence]) => fence)).toEqual(seen.map(([, fence]) => fence).toSorted((a, b) => a - b));
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'failed', error: 'TypeError: not today' });
    expect(stage.events.of('attempt.failed').map(({ retryInMs, state }) => [retryInMs, state])).toEqual([
      [500, 'enqueued'],
      [1_000, 'enqueued'],
      [null, 'failed'],
    ]);
    expect(stage.log.map((line) => line.split('\n')[0])).toEqual([
      'error 1 true TypeError: not today; next attempt in 500 ms',
      'error 2 true TypeError: not today; next attempt in 1000 ms',
      'error 3 true TypeError: not today',
    ]);
  });

  it.each([
    ['an UnrecoverableError', () => Promise.reject(new UnrecoverableError('never'))],
    [
      'an effect name it used twice',
      (run: RunContext) => Promise.all([run.effect('a', () => 1), run.effect('a', () => 2)]),
    ],
    ['an effect whose result can not be recorded', (run: RunContext) => run.effect('a', () => 1n)],
  ])('fails for good with %s', async (_what, handle) => {
    stage = await WorkerStage.with();
    expect(await stage.deliver(handle)).toMatchObject({ kind: 'failed' });
    expect(await stage.state()).toBe('failed');
  });

  it('is tried again when a system behind it refused its fence: only its own run ends an attempt', async () => {
    stage = await WorkerStage.with();
    const refused = new StaleFenceError('sink/row', parseFence('7'), 'written under fence 8');
    expect(await stage.deliver(() => Promise.reject(refused))).toMatchObject({ kind: 'later' });
  });
});

describe('an attempt', () => {
  it('keeps its run lease for as long as the handler takes', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn, signal } = standing();
    const disposition = stage.deliver(handle);
    await stage.manual.advance(10 * RUN_LEASE_MS);
    await expect(stage.takenOver()).rejects.toThrow('busy');
    goOn();
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(signal().aborted).toBe(false);
    expect(stage.events.of('attempt.succeeded')).toMatchObject([{ tookMs: 10 * RUN_LEASE_MS }]);
  });

  it('tells its handler when the queue has given it up', async () => {
    stage = await WorkerStage.with();
    const [queue, { handle, goOn, signal }] = [new AbortController(), standing()];
    const disposition = stage.deliver(handle, { signal: queue.signal });
    await stage.manual.advance(0);
    queue.abort(new Error('the worker stops'));
    expect(signal().reason).toEqual(new Error('the worker stops'));
    expect(stage.events.of('attempt.aborted')).toMatchObject([{ cause: 'Error: the worker stops' }]);
    goOn();
    await disposition;
  });

  it('that was taken over changes nothing when its handler returns', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn } = standing();
    const disposition = stage.deliver(handle);
    await stage.manual.advance(0);
    stage.ledger.next('heartbeat', ...Array.from({ length: 9 }, () => 'fail' as const));
    await stage.manual.advance(RUN_LEASE_MS);
    const other = await stage.takenOver();
    goOn();
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(stage.events.of('attempt.refused')).toMatchObject([{ step: 'finish', attempt: 1 }]);
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'running', fence: other.fence });
  });

  it.each(['fail', 'lose-reply'] as const)(
    'finishes in the end when the store is away for a moment: %s',
    async (mishap) => {
      stage = await WorkerStage.with();
      let handled = 0;
      stage.ledger.next('finish', mishap, mishap, mishap);
      const disposition = stage.deliver(() => void (handled += 1));
      await stage.manual.advance(RUN_LEASE_MS / 2);
      expect(await disposition).toEqual({ kind: 'settled' });
      expect([handled, await stage.state()]).toEqual([1, 'succeeded']);
      expect(stage.events.of('store.failed')).toHaveLength(3);
    },
  );

  it('leaves its run to others when the store is away for longer than its lease', async () => {
    stage = await WorkerStage.with();
    const disposition = stage.deliver(() => stage.ledger.down());
    const outcome = disposition.then(
      () => 'carried out',
      (error: unknown) => String(error),
    );
    await stage.manual.advance(2 * RUN_LEASE_MS);
    expect(await outcome).toBe('Error: connect ECONNREFUSED: finish did not get through');
    stage.ledger.heal();
    await stage.takenOver();
  });
});
