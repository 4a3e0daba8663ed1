import { beforeEach, describe, expect, it } from 'vitest';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** Confirming, finding what got lost, and delivering it again. */
export function deliveryContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  describe('confirm', () => {
    it('takes claimed runs out of the pending list and enqueues them', async () => {
      const first = await stage.claimed(1);
      const second = await stage.claimed(2);
      const third = await stage.claimed(3);
      expect(await stage.ledger.pending(stage.cron)).toEqual(
        [first, second, third].map((runId) => ({ runId, delivery: 1 })),
      );
      await stage.ledger.confirm([first, third]);
      expect(await stage.ledger.pending(stage.cron)).toEqual([{ runId: second, delivery: 1 }]);
      expect(await stage.run(first)).toMatchObject({ state: 'enqueued', enqueuedAt: expect.any(Number) });
    });

    it('that comes a second time, or for a run that is not there, changes nothing', async () => {
      const runId = await stage.enqueued(1);
      const before = await stage.run(runId);
      await stage.harness.advance(2);
      await stage.ledger.confirm([runId, stage.idOf(9)]);
      await stage.ledger.confirm([]);
      expect(await stage.run(runId)).toEqual(before);
      expect(await stage.ledger.readRun(stage.idOf(9))).toBeNull();
    });

    it('that comes after the worker leaves the run alone', async () => {
      const runId = await stage.claimed(1);
      await stage.begun(runId);
      expect(await stage.ledger.pending(stage.cron)).toEqual([]);
      await stage.ledger.confirm([runId]);
      expect(await stage.run(runId)).toMatchObject({ state: 'running', enqueuedAt: null });
    });
  });

  describe('redeliver', () => {
    it('numbers one more delivery of a run that nobody works on', async () => {
      const runId = await stage.claimed(1);
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, 'a')).toEqual({ runId, delivery: 2 });
      expect(await stage.ledger.pending(stage.cron)).toEqual([{ runId, delivery: 2 }]);
      await stage.ledger.confirm([runId]);
      expect(await stage.ledger.redeliver({ runId, delivery: 2 }, 'b')).toEqual({ runId, delivery: 3 });
      expect(await stage.run(runId)).toMatchObject({ state: 'enqueued', delivery: 3 });
    });

    it('hands a run over once when two sweeps saw it', async () => {
      const runId = await stage.enqueued(1);
      const replies = await Promise.all(
        ['a', 'b', 'c', 'd'].map((nonce) => stage.ledger.redeliver({ runId, delivery: 1 }, nonce)),
      );
      expect(replies.filter((reply) => reply !== null)).toEqual([{ runId, delivery: 2 }]);
      expect((await stage.run(runId)).delivery).toBe(2);
    });

    it('answers the same when it is sent again, also after the run went on', async () => {
      const runId = await stage.enqueued(1);
      const second = { runId, delivery: 2 };
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, 'a')).toEqual(second);
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, 'a')).toEqual(second);
      const attempt = await stage.begun(runId);
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, 'a')).toEqual(second);
      await stage.ledger.finish(attempt, { kind: 'succeeded' });
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, 'a')).toEqual(second);
      expect(await stage.run(runId)).toMatchObject({ state: 'succeeded', delivery: 2 });
    });

    it('orphans a run whose lease has expired, and shuts its worker out', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.lapse(attempt);
      expect((await stage.run(attempt.runId)).state).toBe('running');
      expect(await stage.ledger.redeliver({ runId: attempt.runId, delivery: 1 }, 'a')).toMatchObject({ delivery: 2 });
      expect(await stage.run(attempt.runId)).toMatchObject({ state: 'orphaned', worker: 'worker/1' });
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('stale');
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBeNull();
      expect((await stage.run(attempt.runId)).state).toBe('orphaned');
    });

    it('leaves a run alone whose worker is alive', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      const before = await stage.run(attempt.runId);
      expect(await stage.ledger.redeliver({ runId: attempt.runId, delivery: 1 }, 'a')).toBeNull();
      expect(await stage.run(attempt.runId)).toEqual(before);
    });

    it('has nothing to deliver of a run that is over or was never there', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.ledger.finish(attempt, { kind: 'failed', error: 'it broke' });
      expect(await stage.ledger.redeliver({ runId: attempt.runId, delivery: 1 }, 'a')).toBeNull();
      expect(await stage.ledger.redeliver({ runId: stage.idOf(9), delivery: 1 }, 'b')).toBeNull();
      expect(await stage.ledger.readRun(stage.idOf(9))).toBeNull();
    });
  });

  describe('overdue', () => {
    async function overdue(againMs = LONG_MS) {
      return (await stage.overdue(againMs)).runs.map(({ runId, state }) => [runId, state]);
    }

    it('shows nothing before its time', async () => {
      await stage.claimed(1);
      await stage.enqueued(2);
      await stage.begun(await stage.claimed(3));
      await stage.harness.advance(2);
      expect(await overdue()).toEqual([]);
    });

    it('shows a claimed run that was never confirmed, and again only after the time that was asked for', async () => {
      stage = await Stage.of(makeHarness, { recoverMs: 1 });
      const runId = await stage.claimed(1);
      await stage.harness.advance(2);
      expect((await stage.overdue(1)).runs).toEqual([{ runId, delivery: 1, state: 'claimed' }]);
      await stage.harness.advance(2);
      expect(await overdue(LONG_MS)).toEqual([[runId, 'claimed']]);
      expect(await overdue()).toEqual([]);
    });

    it('shows an enqueued run that has not begun', async () => {
      stage = await Stage.of(makeHarness, { sweepMs: 1 });
      const runId = await stage.enqueued(1);
      await stage.harness.advance(2);
      expect(await overdue()).toEqual([[runId, 'enqueued']]);
    });

    it('shows a run whose lease has expired, first as running, then as orphaned', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.lapse(attempt);
      expect(await overdue(1)).toEqual([[attempt.runId, 'running']]);
      await stage.ledger.redeliver({ runId: attempt.runId, delivery: 1 }, 'a');
      await stage.harness.advance(2);
      expect(await overdue()).toEqual([[attempt.runId, 'orphaned']]);
    });

    it('shows no run that is over', async () => {
      stage = await Stage.of(makeHarness, { recoverMs: 1, sweepMs: 1 });
      await stage.ledger.finish(await stage.begun(await stage.claimed(1)), { kind: 'succeeded' });
      await stage.ledger.finish(await stage.begun(await stage.claimed(2)), { kind: 'failed', error: 'it broke' });
      await stage.begun(await stage.claimed(3));
      await stage.ledger.claim(await stage.request(4, { overlap: 'skip' }));
      await stage.harness.advance(3);
      expect(await overdue()).toEqual([]);
    });

    it('shows at most a hundred, those that wait longest', async () => {
      stage = await Stage.of(makeHarness, { recoverMs: 1 });
      for (let n = 1; n <= 101; n += 1) await stage.claimed(n);
      await stage.harness.advance(2);
      const first = await overdue();
      expect(first).toHaveLength(100);
      expect(new Set([...first, ...(await overdue())].map(([runId]) => runId)).size).toBe(101);
    });
  });
}
