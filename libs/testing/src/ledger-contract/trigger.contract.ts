import { beforeEach, describe, expect, it } from 'vitest';
import type { TriggerReply, TriggerRequest } from '@fencepost/ledger';
import { fence, Stage, type MakeLedgerHarness } from './stage.js';

/** Runs that somebody asks for. */
export function triggerContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  function backfill(n: number, over: Partial<TriggerRequest> = {}): Promise<TriggerReply> {
    return stage.ledger.trigger(stage.backfill(n, over));
  }

  async function triggered(over: Partial<TriggerRequest> = {}): Promise<string> {
    const request = stage.order(over);
    expect(await stage.ledger.trigger(request)).toEqual({ verdict: 'claimed', runId: request.runId });
    return request.runId;
  }

  describe('a run that is triggered', () => {
    it('is recorded as claimed, with who asked for it and with what', async () => {
      const missed = { count: 2, from: stage.instant(1), to: stage.instant(2) };
      const before = await stage.harness.now();
      const runId = await triggered({
        generation: 4,
        payload: '{"a":1}',
        handler: 'import',
        missed,
        reason: 'catch-up',
      });
      const run = await stage.run(runId);
      const { claimedAt } = run;
      expect(run).toEqual({
        ...{ id: runId, cron: stage.cron, scheduledAt: claimedAt, dueAt: claimedAt, reason: 'catch-up', missed },
        ...{ state: 'claimed', skipped: null, generation: 4, claimFence: fence(0), claimedBy: 'ada', claimedAt },
        ...{ enqueuedAt: null, delivery: 1, attempt: 0, fence: null, worker: null, startedAt: null },
        ...{ attemptedAt: null, notBefore: null, finishedAt: null, error: null, waiting: null, cancel: null },
        ...{ priority: null, unresolvedEffect: null, result: null },
        ...{ by: 'ada', payload: '{"a":1}', handler: 'import' },
      });
      expect(claimedAt).toBeGreaterThanOrEqual(before);
      expect(claimedAt).toBeLessThanOrEqual(await stage.harness.now());
    });

    it('moves no cursor, and changes neither fence nor generation', async () => {
      await stage.claimed(1, { generation: 2 });
      const before = await stage.ledger.readCron(stage.cron);
      await triggered({ generation: 9 });
      expect(await stage.ledger.readCron(stage.cron)).toEqual(before);
      await stage.claimed(2, { generation: 2 });
    });

    it('ignores a pause', async () => {
      await stage.ledger.pause(stage.cron, { by: 'ada', reason: 'migration', until: null });
      expect(await stage.run(await triggered())).toMatchObject({ state: 'claimed' });
    });

    it('is one run when the call is sent again', async () => {
      const request = stage.order();
      const reply = await stage.ledger.trigger(request);
      await stage.ledger.finish(await stage.begun(request.runId), { kind: 'succeeded' });
      const ended = await stage.run(request.runId);
      expect(await stage.ledger.trigger(request)).toEqual(reply);
      expect(ended.state).toBe('succeeded');
      expect(await stage.ledger.runs(stage.cron, 10)).toEqual([ended]);
      expect(await stage.ledger.pending(stage.cron)).toEqual([]);
    });

    it('is left alone by another order of the same id', async () => {
      const request = stage.order();
      await stage.ledger.trigger(request);
      const before = await stage.run(request.runId);
      const exists = { verdict: 'exists', state: 'claimed' };
      expect(await stage.ledger.trigger({ ...request, nonce: 'another', payload: '1' })).toEqual(exists);
      expect(await stage.ledger.runs(stage.cron, 10)).toEqual([before]);
    });
  });

  describe('a run that is triggered while others are open', () => {
    it('is skipped where overlap is not allowed, with a record of it, and again when it is sent again', async () => {
      await stage.begun(await stage.claimed(1));
      const request = stage.order({ overlap: 'skip' });
      const skipped = { verdict: 'skipped', reason: 'overlap' };
      expect(await stage.ledger.trigger(request)).toEqual(skipped);
      expect(await stage.ledger.trigger(request)).toEqual(skipped);
      const record = { state: 'skipped', skipped: 'overlap', delivery: 0, finishedAt: expect.any(Number) };
      expect(await stage.run(request.runId)).toMatchObject(record);
      expect(await stage.ledger.pending(stage.cron)).toHaveLength(0);
    });

    it('has its place where several may be open', async () => {
      await stage.claimed(1);
      const runId = await triggered({ overlap: 'skip', maxConcurrency: 2 });
      expect(await stage.run(runId)).toMatchObject({ state: 'claimed' });
    });
  });

  describe('an instant of the past that somebody asks for', () => {
    beforeEach(async () => {
      await stage.succeeded(1);
      await stage.succeeded(6, { skips: [stage.range(1, 3), stage.range(3, 5, 'merged')] });
    });

    it.each([2, 3, 4, 5])('may run when it was skipped (%i)', async (n) => {
      expect(await backfill(n)).toEqual({ verdict: 'claimed', runId: stage.idOf(n) });
      const run = { scheduledAt: stage.instant(n), dueAt: stage.instant(n), reason: 'backfill', by: 'ada' };
      expect(await stage.run(stage.idOf(n))).toMatchObject(run);
    });

    it('may run when it lies before the first that was accounted for', async () => {
      expect(await backfill(0)).toMatchObject({ verdict: 'claimed' });
      expect(await backfill(-5)).toMatchObject({ verdict: 'claimed' });
    });

    it('is left alone when it ran', async () => {
      expect(await backfill(1)).toEqual({ verdict: 'exists', state: 'succeeded' });
    });

    it('is left alone when it may have run: the ledger accounted for it, and no longer knows how', async () => {
      await stage.forget(0);
      for (const n of [1, 6]) expect(await backfill(n)).toEqual({ verdict: 'forgotten' });
      for (const n of [2, 5]) expect(await backfill(n)).toEqual({ verdict: 'forgotten' });
      expect(await stage.ledger.runs(stage.cron, 10)).toEqual([]);
    });

    it.each([3, 0])('runs once, also when its run was forgotten meanwhile (%i)', async (n) => {
      await backfill(n);
      await stage.ledger.finish(await stage.begun(stage.idOf(n)), { kind: 'succeeded' });
      await stage.forget(1);
      expect(await stage.ledger.readRun(stage.idOf(n))).toBeNull();
      expect(await backfill(n)).toEqual({ verdict: 'forgotten' });
    });

    it('belongs to the schedule while it is still to come', async () => {
      expect(await backfill(7)).toEqual({ verdict: 'ahead' });
      const again = { runId: `${stage.idOf(7)}-r1` };
      expect(await backfill(7, again)).toEqual({ verdict: 'ahead' });
      await stage.claimed(7);
    });

    it('runs once when nothing was ever accounted for and it lies before the cron was made', async () => {
      const cron = `${stage.cron}-3`;
      const cronSince = stage.instant(2);
      const ask = (n: number) => backfill(n, { runId: `${cron}@${stage.instant(n)}`, cronSince });
      expect(await ask(1)).toMatchObject({ verdict: 'claimed' });
      expect(await ask(2)).toMatchObject({ verdict: 'claimed' });
      expect(await ask(3)).toEqual({ verdict: 'ahead' });
      expect(await ask(1)).toEqual({ verdict: 'exists', state: 'claimed' });
      expect((await stage.ledger.readCron(cron)).cursor).toBeNull();
    });

    it('may run again under an id of its own', async () => {
      const runId = `${stage.idOf(1)}-r1`;
      expect(await backfill(1, { runId })).toEqual({ verdict: 'claimed', runId });
      expect((await stage.run(runId)).scheduledAt).toBe(stage.instant(1));
      expect((await stage.run(stage.idOf(1))).state).toBe('succeeded');
      expect(await backfill(1, { runId })).toMatchObject({ verdict: 'exists' });
    });

    it('that was paused may run', async () => {
      await stage.ledger.pause(stage.cron, { by: 'ada', reason: 'migration', until: null });
      await stage.ledger.claim(await stage.request(8));
      expect(await backfill(7)).toMatchObject({ verdict: 'claimed' });
    });

    it('makes one run, however many ask for it at once', async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, () => backfill(2)));
      expect(replies.filter(({ verdict }) => verdict === 'claimed')).toHaveLength(1);
      expect(replies.filter(({ verdict }) => verdict === 'exists')).toHaveLength(19);
    });
  });
}
