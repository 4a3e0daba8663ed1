import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TriggerRequest } from '@fencepost/ledger';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** Runs that somebody asks for later, and runs that are more urgent than others. */
export function triggerLaterContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness, { recoverMs: 1, sweepMs: 1 });
  });

  async function triggered(over: Partial<TriggerRequest>): Promise<string> {
    const request = stage.order(over);
    expect(await stage.ledger.trigger(request)).toEqual({ verdict: 'claimed', runId: request.runId });
    return request.runId;
  }

  async function inFuture(ms: number): Promise<number> {
    return (await stage.harness.now()) + ms;
  }

  describe('a run that somebody asks for later', () => {
    it('is due then, and nobody begins it before', async () => {
      const notBefore = await inFuture(LONG_MS);
      const runId = await triggered({ notBefore });
      const run = await stage.run(runId);
      expect(run).toMatchObject({ state: 'claimed', dueAt: notBefore, scheduledAt: run.claimedAt });
      const reply = await stage.ledger.begin(stage.attempt(runId));
      expect(reply).toEqual({ verdict: 'not-due', waitMs: expect.any(Number) });
      expect(reply.verdict === 'not-due' && reply.waitMs).toBeGreaterThan(LONG_MS / 2);
      expect(await stage.run(runId)).toEqual(run);
    });

    it('waits for nothing where it is skipped at once', async () => {
      await stage.begun(await stage.claimed(1));
      const request = stage.order({ overlap: 'skip', notBefore: await inFuture(LONG_MS) });
      expect(await stage.ledger.trigger(request)).toEqual({ verdict: 'skipped', reason: 'overlap' });
      const run = await stage.run(request.runId);
      expect(run).toMatchObject({ state: 'skipped', notBefore: null, dueAt: run.scheduledAt });
    });

    it('is looked for only when its time has come, confirmed or not', async () => {
      await triggered({ notBefore: await inFuture(LONG_MS) });
      await stage.ledger.confirm([await triggered({ notBefore: await inFuture(LONG_MS) })]);
      const soon = await triggered({ notBefore: await inFuture(15) });
      const sooner = await triggered({ notBefore: await inFuture(15) });
      await stage.ledger.confirm([sooner]);
      await stage.harness.advance(20);
      const { runs, watched } = await stage.overdue(LONG_MS);
      expect(runs.map(({ runId }) => runId).toSorted()).toEqual([soon, sooner].toSorted());
      expect(watched).toBe(4);
    });

    it('is handed over again by whoever takes the cron while nobody has confirmed it', async () => {
      const runId = await triggered({ notBefore: await inFuture(LONG_MS) });
      expect(await stage.ledger.pending(stage.cron)).toEqual([{ runId, delivery: 1 }]);
    });

    it.each([null, 0])('is due now when that is past (%s)', async (notBefore) => {
      const runId = await triggered({ notBefore });
      const { dueAt, claimedAt } = await stage.run(runId);
      expect(dueAt).toBe(claimedAt);
      expect(await stage.ledger.begin(stage.attempt(runId))).toMatchObject({ verdict: 'begun' });
    });

    it('is one run when the call is sent again', async () => {
      const request = stage.order({ notBefore: await inFuture(LONG_MS) });
      const reply = await stage.ledger.trigger(request);
      const before = await stage.run(request.runId);
      expect(await stage.ledger.trigger(request)).toEqual(reply);
      expect(await stage.run(request.runId)).toEqual(before);
    });
  });

  describe('the priority of a run', () => {
    it('is kept, and is none for a run that has none', async () => {
      expect(await stage.run(await triggered({ priority: 7 }))).toMatchObject({ priority: 7 });
      expect(await stage.run(await triggered({ priority: null }))).toMatchObject({ priority: null });
      expect(await stage.run(await stage.claimed(1))).toMatchObject({ priority: null });
    });

    it('goes with every delivery of it', async () => {
      const runId = await triggered({ priority: 7 });
      expect(await stage.ledger.pending(stage.cron)).toEqual([{ runId, delivery: 1, priority: 7 }]);
      await stage.harness.advance(3);
      expect((await stage.overdue(1)).runs).toEqual([{ runId, delivery: 1, priority: 7, state: 'claimed' }]);
      const nonce = randomUUID();
      const again = { runId, delivery: 2, priority: 7 };
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, nonce)).toEqual(again);
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, nonce)).toEqual(again);
    });

    it('is what the worker gets, and goes with the delivery after an answer', async () => {
      const runId = await triggered({ priority: 7 });
      const request = stage.attempt(runId);
      const reply = await stage.ledger.begin(request);
      expect(reply).toMatchObject({ verdict: 'begun', run: { priority: 7, unresolvedEffect: null } });
      if (reply.verdict !== 'begun') return;
      await stage.leaveUncertain({ runId, fence: reply.fence, nonce: request.nonce });
      const delivery = { runId, delivery: 2, priority: 7 };
      expect(await stage.ledger.resolve(runId, await stage.answer(runId, 'done'))).toMatchObject({ delivery });
    });
  });
}
