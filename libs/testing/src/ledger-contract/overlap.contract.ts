import { describe, expect, it } from 'vitest';
import { Stage, type MakeLedgerHarness } from './stage.js';

type Situation = (stage: Stage) => Promise<unknown>;

const GOING_ON: Record<string, Situation> = {
  'is claimed': (stage) => stage.claimed(1),
  'is enqueued': (stage) => stage.enqueued(1),
  'has a worker': async (stage) => stage.begun(await stage.enqueued(1)),
  'waits for its next attempt': async (stage) => {
    const attempt = await stage.begun(await stage.enqueued(1));
    await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: 0 });
  },
};

const OVER: Record<string, Situation> = {
  'has lost its worker': async (stage) => stage.lapse(await stage.begun(await stage.claimed(1))),
  'is orphaned': async (stage) => stage.orphan(await stage.begun(await stage.claimed(1))),
  'has succeeded': async (stage) =>
    stage.ledger.finish(await stage.begun(await stage.claimed(1)), { kind: 'succeeded' }),
  'has failed': async (stage) =>
    stage.ledger.finish(await stage.begun(await stage.claimed(1)), { kind: 'failed', error: 'it broke' }),
  'used up its attempts': async (stage) => {
    const attempt = await stage.begun(await stage.claimed(1));
    await stage.lapse(attempt);
    await stage.ledger.begin(stage.attempt(attempt.runId, { maxAttempts: 1 }));
  },
};

/** Decided when claiming, and again when an attempt begins. */
export function overlapContract(makeHarness: MakeLedgerHarness): void {
  describe('an occurrence whose predecessor', () => {
    it.each(Object.entries(GOING_ON))('%s is skipped, with the reason', async (_name, situation) => {
      const stage = await Stage.of(makeHarness);
      await situation(stage);
      const reply = await stage.ledger.claim(await stage.request(2, { overlap: 'skip' }));
      expect(reply).toEqual({ verdict: 'skipped', reason: 'overlap' });
      const record = { state: 'skipped', skipped: 'overlap', delivery: 0, attempt: 0, finishedAt: expect.any(Number) };
      expect(await stage.run(stage.idOf(2))).toMatchObject(record);
      expect((await stage.ledger.readCron(stage.cron)).cursor).toBe(stage.instant(2));
      expect((await stage.ledger.pending(stage.cron)).map(({ runId }) => runId)).not.toContain(stage.idOf(2));
    });

    it('waits for a worker with its handler is skipped, and nothing is called an overlap', async () => {
      const stage = await Stage.of(makeHarness);
      await stage.ledger.noteWaiting(await stage.enqueued(1), 'no-capable-worker');
      const request = await stage.request(2, { overlap: 'skip' });
      const reply = { verdict: 'skipped', reason: 'no-capable-worker' };
      expect(await stage.ledger.claim(request)).toEqual(reply);
      expect(await stage.ledger.claim(request)).toEqual(reply);
      expect(await stage.run(stage.idOf(2))).toMatchObject({ state: 'skipped', skipped: 'no-capable-worker' });
      const triggered = stage.order({ overlap: 'skip' });
      expect(await stage.ledger.trigger(triggered)).toEqual(reply);
      expect(await stage.ledger.trigger(triggered)).toEqual(reply);
      expect((await stage.run(triggered.runId)).skipped).toBe('no-capable-worker');
      const range = { from: stage.instant(2), to: stage.instant(3), bucketMs: 1_000, graceMs: 0, most: 10 };
      const { rows } = await stage.ledger.tally(stage.cron, range);
      expect(rows).toMatchObject([{ skipped: 'no-capable-worker', count: 1 }]);
    });

    it('has a worker again is skipped as an overlap, although it waited for one', async () => {
      const stage = await Stage.of(makeHarness);
      await stage.ledger.noteWaiting(await stage.enqueued(1), 'no-capable-worker');
      await stage.ledger.noteWaiting(stage.idOf(1), null);
      expect(await stage.run(stage.idOf(1))).toMatchObject({ waiting: null });
      const reply = await stage.ledger.claim(await stage.request(2, { overlap: 'skip' }));
      expect(reply).toEqual({ verdict: 'skipped', reason: 'overlap' });
    });

    it.each(Object.entries(OVER))('%s is claimed', async (_name, situation) => {
      const stage = await Stage.of(makeHarness);
      await situation(stage);
      expect(await stage.claimed(2, { overlap: 'skip' })).toBe(stage.idOf(2));
    });

    it.each(Object.entries(GOING_ON))(
      '%s is claimed all the same when overlap is allowed',
      async (_name, situation) => {
        const stage = await Stage.of(makeHarness);
        await situation(stage);
        expect(await stage.claimed(2, { overlap: 'allow' })).toBe(stage.idOf(2));
      },
    );
  });

  describe('an orphaned run while its successor is alive', () => {
    it('waits for it, is asked again within a second, and begins afterwards', async () => {
      const stage = await Stage.of(makeHarness);
      const old = await stage.begun(await stage.claimed(1, { overlap: 'skip' }));
      await stage.orphan(old);
      const successor = await stage.begun(await stage.claimed(2, { overlap: 'skip' }), { ttlMs: 30_000 });

      const reply = await stage.ledger.begin(stage.attempt(old.runId));
      expect(reply).toEqual({ verdict: 'busy', waitMs: expect.any(Number) });
      expect(reply).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms > 0 && ms <= 1_000),
      );
      expect(await stage.run(old.runId)).toMatchObject({ state: 'orphaned', attempt: 1 });

      await stage.ledger.finish(successor, { kind: 'succeeded' });
      expect(await stage.ledger.begin(stage.attempt(old.runId))).toMatchObject({ verdict: 'begun', attempt: 2 });
    });

    it('does not wait for one that has lost its worker as well', async () => {
      const stage = await Stage.of(makeHarness);
      const old = await stage.begun(await stage.claimed(1, { overlap: 'skip' }));
      await stage.orphan(old);
      await stage.lapse(await stage.begun(await stage.claimed(2, { overlap: 'skip' })));
      expect(await stage.ledger.begin(stage.attempt(old.runId))).toMatchObject({ verdict: 'begun' });
    });
  });
}
