import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { fence, LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

const ORDER = { by: 'ada', graceMs: LONG_MS };

/** A run that waits for a person: what may happen to it meanwhile, and what may not. */
export function uncertainContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness, { recoverMs: 1, sweepMs: 1 });
  });

  describe('a run that is uncertain', () => {
    it('keeps what a person is asked, and what went wrong', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      const odd = { effect: 'two\nlines "🦉" \\', item: '__proto__', unknownReason: 'key-expired', since: 7 } as const;
      const unresolvedEffect = await stage.leaveUncertain(attempt, odd);
      const run = await stage.run(attempt.runId);
      expect(run).toMatchObject({ state: 'uncertain', error: 'nobody knows', finishedAt: null, attempt: 1 });
      expect(run.unresolvedEffect).toEqual(unresolvedEffect);
      expect(await stage.ledger.runs(stage.cron, 1)).toEqual([run]);
    });

    it('is uncertain once when its end is sent again', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      const unresolvedEffect = await stage.leaveUncertain(attempt);
      const before = await stage.run(attempt.runId);
      const outcome = { kind: 'uncertain', error: 'nobody knows', unresolvedEffect } as const;
      expect(await stage.ledger.finish(attempt, outcome)).toBe('uncertain');
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBe('uncertain');
      expect(await stage.run(attempt.runId)).toEqual(before);
      expect(await stage.refusals()).toBe(0);
    });

    it('is refused from a stale attempt', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.takeover(attempt);
      const unresolvedEffect = { effect: 'charge', item: null, unknownReason: 'lost', since: 1 } as const;
      expect(await stage.ledger.finish(attempt, { kind: 'uncertain', error: 'x', unresolvedEffect })).toBeNull();
      expect((await stage.run(attempt.runId)).state).toBe('running');
    });

    it('begins for nobody, however many attempts are left', async () => {
      const { runId } = await stage.uncertain(1);
      const before = await stage.run(runId);
      expect(await stage.ledger.begin(stage.attempt(runId))).toEqual({ verdict: 'uncertain' });
      expect(await stage.ledger.begin(stage.attempt(runId, { maxAttempts: 1 }))).toEqual({ verdict: 'uncertain' });
      expect(await stage.run(runId)).toEqual(before);
    });

    it('is delivered to nobody, and nobody looks for it', async () => {
      const { runId } = await stage.uncertain(1);
      const before = await stage.run(runId);
      await stage.harness.advance(3);
      expect(await stage.overdue(1)).toMatchObject({ runs: [], watched: 0 });
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, randomUUID())).toBeNull();
      expect(await stage.ledger.pending(stage.cron)).toEqual([]);
      expect(await stage.overdue(1)).toMatchObject({ watched: 0 });
      expect(await stage.run(runId)).toEqual(before);
    });

    it('keeps a done that arrives late as a fact', async () => {
      const attempt = await stage.uncertain(1);
      expect(await stage.finishEffect(attempt, 'charge', '"paid"')).toBe('late');
      expect(await stage.ledger.effects(attempt.runId)).toMatchObject([{ state: 'done', result: '"paid"' }]);
      expect((await stage.run(attempt.runId)).state).toBe('uncertain');
    });

    it.each(['skip', 'queue-one', 'queue-all', 'replace'] as const)(
      'does not stand in the way of a successor (%s)',
      async (overlap) => {
        const first = await stage.begun(await stage.claimed(1, { overlap }));
        await stage.leaveUncertain(first);
        const before = await stage.run(first.runId);
        const next = await stage.claimed(2, { overlap });
        expect(await stage.ledger.begin(stage.attempt(next))).toMatchObject({ verdict: 'begun' });
        expect(await stage.run(first.runId)).toEqual(before);
      },
    );

    it('is never forgotten, however old: neither beyond what is kept nor when its time is up', async () => {
      stage = await Stage.of(makeHarness, { keepMs: 30 });
      const attempt = await stage.uncertain(1);
      const finished = await stage.succeeded(2);
      expect(await stage.forget(0)).toBe(1);
      await stage.harness.advance(40);
      await stage.forget(0);
      expect(await stage.ledger.readRun(finished)).toBeNull();
      expect(await stage.run(attempt.runId)).toMatchObject({ state: 'uncertain' });
      expect(await stage.ledger.effects(attempt.runId)).toMatchObject([{ name: 'charge', state: 'begun' }]);
    });

    it('is cancelled at once, and asks nothing any more', async () => {
      const { runId } = await stage.uncertain(1);
      expect(await stage.ledger.cancel(runId, ORDER)).toEqual({ verdict: 'cancelled' });
      const cancelled = { state: 'cancelled', unresolvedEffect: null, finishedAt: expect.any(Number) };
      expect(await stage.run(runId)).toMatchObject({ ...cancelled, cancel: { by: 'ada' } });
      expect(await stage.ledger.resolve(runId, await stage.answer(runId, 'done'))).toEqual({
        verdict: 'certain',
        state: 'cancelled',
      });
      expect(await stage.ledger.runsIn('uncertain', [stage.cron], 10)).toEqual([]);
    });

    it('is an instant that is accounted for: no claim makes it again', async () => {
      const { runId } = await stage.uncertain(1);
      const over = { fence: fence(2_000), term: 'the next' };
      expect(await stage.ledger.claim(await stage.request(1, over))).toMatchObject({ verdict: 'moved' });
      expect((await stage.ledger.account(stage.cron, stage.instant(0), stage.instant(2))).runs).toMatchObject([
        { id: runId, state: 'uncertain' },
      ]);
    });
  });
}
