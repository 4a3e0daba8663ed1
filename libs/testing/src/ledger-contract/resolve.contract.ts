import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '@fencepost/ledger';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

const TELL = { ifUnknown: 'tell' } as const;

/** What a person's answer does to a run, to its effect, and to its next attempt. */
export function resolveContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  let attempt: AttemptRef;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness, { sweepMs: 1 });
    attempt = await stage.uncertain(1);
  });

  function enqueued(delivery = 2) {
    return { verdict: 'resolved', state: 'enqueued', delivery: { runId: attempt.runId, delivery } };
  }

  describe('an answer that it happened', () => {
    it('records it as done with the result, and the next attempt gets that', async () => {
      expect(await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'done'))).toEqual(enqueued());
      const next = await stage.begun(attempt.runId);
      expect(await stage.beginEffect(next, 'charge', TELL)).toMatchObject({ verdict: 'done', result: '"by hand"' });
      expect(await stage.ledger.effects(attempt.runId)).toMatchObject([
        { name: 'charge', state: 'done', result: '"by hand"', finishedAt: expect.any(Number), fence: attempt.fence },
      ]);
    });

    it('records it also when nobody began the effect', async () => {
      const other = await stage.begun(await stage.claimed(2));
      const unresolvedEffect = { effect: 'never begun', item: null, unknownReason: 'timeout', since: 1 } as const;
      await stage.ledger.finish(other, { kind: 'uncertain', error: 'x', unresolvedEffect });
      await stage.ledger.resolve(other.runId, await stage.answer(other.runId, 'done'));
      const next = await stage.begun(other.runId);
      expect(await stage.beginEffect(next, 'never begun')).toMatchObject({ verdict: 'done', result: '"by hand"' });
      expect(await stage.ledger.effects(other.runId)).toMatchObject([{ name: 'never begun', fence: 0 }]);
    });

    it('stands: the late word of the attempt that began it changes nothing', async () => {
      await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'done'));
      expect(['known', 'late']).toContain(await stage.finishEffect(attempt, 'charge', '"late"'));
      const next = await stage.begun(attempt.runId);
      expect(await stage.beginEffect(next, 'charge')).toMatchObject({ verdict: 'done', result: '"by hand"' });
    });

    it('is recorded of an item when it was asked about one, and of no effect', async () => {
      const other = await stage.begun(await stage.claimed(2));
      await stage.leaveUncertain(other, { effect: 'mails', item: 'a/b\n🦉' });
      await stage.ledger.resolve(other.runId, await stage.answer(other.runId, 'done'));
      expect(await stage.ledger.items(other.runId, 'mails')).toMatchObject([
        { key: 'a/b\n🦉', state: 'done', error: null },
      ]);
      expect(await stage.ledger.effects(other.runId)).toEqual([]);
    });
  });

  describe('an answer that it did not happen', () => {
    it('records it as failed, with who says so and why, and the next attempt begins it anew', async () => {
      const request = await stage.answer(attempt.runId, 'not-done', { by: 'grace', reason: 'two\nlines 🦉' });
      expect(await stage.ledger.resolve(attempt.runId, request)).toEqual(enqueued());
      const [record] = await stage.ledger.effects(attempt.runId);
      const error = expect.stringMatching(/did not happen.*grace: two\nlines 🦉/);
      expect(record).toMatchObject({ state: 'failed', error });
      const next = await stage.begun(attempt.runId);
      expect(await stage.beginEffect(next, 'charge', TELL)).toEqual({ verdict: 'go', unknown: null });
    });

    it('is recorded of an item when it was asked about one', async () => {
      const other = await stage.begun(await stage.claimed(2));
      await stage.leaveUncertain(other, { effect: 'mails', item: 'a' });
      await stage.ledger.resolve(other.runId, await stage.answer(other.runId, 'not-done'));
      expect(await stage.ledger.items(other.runId, 'mails')).toMatchObject([
        { key: 'a', state: 'failed', error: expect.stringContaining('did not happen') },
      ]);
    });
  });

  describe('an answer that comes after the fact', () => {
    it.each(['done', 'not-done'] as const)('leaves the done that arrived meanwhile as it is (%s)', async (verdict) => {
      expect(await stage.finishEffect(attempt, 'charge', '"paid"')).toBe('late');
      expect(await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, verdict))).toEqual(enqueued());
      const next = await stage.begun(attempt.runId);
      expect(await stage.beginEffect(next, 'charge')).toMatchObject({ verdict: 'done', result: '"paid"' });
    });

    it('leaves the item that was done meanwhile as it is', async () => {
      const other = await stage.begun(await stage.claimed(2));
      await stage.leaveUncertain(other, { effect: 'mails', item: 'a' });
      await stage.ledger.advanceItems(other, 'mails', { finished: [{ key: 'a', kind: 'done' }], begun: [] });
      await stage.ledger.resolve(other.runId, await stage.answer(other.runId, 'not-done'));
      expect(await stage.ledger.items(other.runId, 'mails')).toMatchObject([{ key: 'a', state: 'done' }]);
    });
  });

  describe('a run that was answered', () => {
    it('is enqueued now, asks nothing, and is delivered under the next number', async () => {
      const before = await stage.harness.now();
      await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'not-done'));
      const run = await stage.run(attempt.runId);
      expect(run).toMatchObject({
        state: 'enqueued',
        unresolvedEffect: null,
        delivery: 2,
        attempt: 1,
        finishedAt: null,
      });
      expect(run.notBefore).toBeGreaterThanOrEqual(before);
      expect(run.notBefore).toBeLessThanOrEqual(await stage.harness.now());
    });

    it('is looked for again: a delivery that got lost is made up for', async () => {
      await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'not-done'));
      await stage.harness.advance(3);
      const { runs } = await stage.overdue(LONG_MS);
      expect(runs).toMatchObject([{ runId: attempt.runId, delivery: 2, state: 'enqueued' }]);
      const again = { runId: attempt.runId, delivery: 3 };
      expect(await stage.ledger.redeliver({ runId: attempt.runId, delivery: 2 }, 'lost')).toEqual(again);
    });

    it('gets exactly one attempt more than its policy allows, for each answer', async () => {
      for (let answers = 1; answers <= 3; answers += 1) {
        await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'not-done'));
        const next = await stage.begun(attempt.runId, { maxAttempts: 1 });
        expect((await stage.run(attempt.runId)).attempt).toBe(1 + answers);
        await stage.leaveUncertain(next);
      }
      await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'not-done'));
      const last = await stage.begun(attempt.runId, { maxAttempts: 1 });
      await stage.lapse(last);
      const over = { verdict: 'terminal', state: 'failed', exhausted: true };
      expect(await stage.ledger.begin(stage.attempt(attempt.runId, { maxAttempts: 1 }))).toEqual(over);
    });

    it('is not answered twice when the call is sent again, also when it went on meanwhile', async () => {
      const request = await stage.answer(attempt.runId, 'not-done');
      const reply = await stage.ledger.resolve(attempt.runId, request);
      expect(await stage.ledger.resolve(attempt.runId, request)).toEqual(reply);
      const next = await stage.begun(attempt.runId, { maxAttempts: 1 });
      const before = await stage.run(attempt.runId);
      expect(await stage.ledger.resolve(attempt.runId, request)).toMatchObject({ verdict: 'resolved' });
      expect(await stage.run(attempt.runId)).toEqual(before);
      await stage.lapse(next);
      const begin = await stage.ledger.begin(stage.attempt(attempt.runId, { maxAttempts: 1 }));
      expect(begin.verdict).toBe('terminal');
    });

    it('takes one answer when two people give one at once', async () => {
      const answers = [await stage.answer(attempt.runId, 'done'), await stage.answer(attempt.runId, 'not-done')];
      const replies = await Promise.all(answers.map((answer) => stage.ledger.resolve(attempt.runId, answer)));
      expect(replies.map(({ verdict }) => verdict).toSorted()).toEqual(['certain', 'resolved']);
      expect(await stage.run(attempt.runId)).toMatchObject({ state: 'enqueued', delivery: 2 });
    });
  });

  describe('a run that was given up', () => {
    it('has failed, and says who gave it up and why', async () => {
      const request = await stage.answer(attempt.runId, 'give-up', { by: 'grace', reason: 'the customer is gone' });
      const reply = { verdict: 'resolved', state: 'failed', delivery: null };
      expect(await stage.ledger.resolve(attempt.runId, request)).toEqual(reply);
      expect(await stage.ledger.resolve(attempt.runId, request)).toEqual(reply);
      const run = await stage.run(attempt.runId);
      expect(run).toMatchObject({
        state: 'failed',
        unresolvedEffect: null,
        finishedAt: expect.any(Number),
        delivery: 1,
      });
      expect(run.error).toContain('grace');
      expect(run.error).toContain('the customer is gone');
    });

    it('is over: nobody begins it, nobody looks for it, and its effect stays unknown', async () => {
      await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'give-up'));
      const over = { verdict: 'terminal', state: 'failed' };
      expect(await stage.ledger.begin(stage.attempt(attempt.runId))).toEqual(over);
      await stage.harness.advance(3);
      expect(await stage.overdue(1)).toMatchObject({ runs: [], watched: 0 });
      expect(await stage.ledger.effects(attempt.runId)).toMatchObject([{ name: 'charge', state: 'begun' }]);
      expect(await stage.forget(0)).toBe(1);
    });
  });

  describe('an answer that nobody asked for', () => {
    it('changes nothing of a run that knows how it ended', async () => {
      const runId = await stage.succeeded(2);
      const before = await stage.run(runId);
      const certain = { verdict: 'certain', state: 'succeeded' };
      expect(await stage.ledger.resolve(runId, await stage.answer(runId, 'give-up'))).toEqual(certain);
      expect(await stage.run(runId)).toEqual(before);
    });

    it.each(['done', 'not-done', 'give-up'] as const)('changes nothing of a run that goes on (%s)', async (verdict) => {
      const running = await stage.begun(await stage.claimed(2));
      await stage.beginEffect(running, 'charge');
      const before = await stage.run(running.runId);
      const certain = { verdict: 'certain', state: 'running' };
      expect(await stage.ledger.resolve(running.runId, await stage.answer(running.runId, verdict))).toEqual(certain);
      expect(await stage.run(running.runId)).toEqual(before);
      expect(await stage.ledger.effects(running.runId)).toMatchObject([{ state: 'begun' }]);
    });

    it('is missing for a run that nobody knows', async () => {
      expect(await stage.ledger.resolve(stage.idOf(9), await stage.answer(stage.idOf(9), 'done'))).toEqual({
        verdict: 'missing',
      });
    });
  });
}
