import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '@fencepost/ledger';
import { Stage, type MakeLedgerHarness } from './stage.js';

const GO = { verdict: 'go', unknown: null };
const SINCE = { since: expect.any(Number), ageMs: expect.any(Number), payloadHash: null };
const GO_UNKNOWN = { verdict: 'go', unknown: SINCE };
const STALE = { verdict: 'stale' };

/** What may be done once, and what is known of it. */
export function effectContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  let attempt: AttemptRef;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
    attempt = await stage.begun(await stage.enqueued(1));
  });

  function takeover(from = attempt): Promise<AttemptRef> {
    return stage.takeover(from);
  }

  describe('beginEffect', () => {
    it('lets the current attempt go ahead, and again when the call is sent again', async () => {
      expect(await stage.beginEffect(attempt, 'mail')).toEqual(GO);
      expect(await stage.beginEffect(attempt, 'mail')).toEqual(GO);
    });

    it('returns the recorded result of what is done, in this and in every later attempt', async () => {
      await stage.beginEffect(attempt, 'mail');
      await stage.finishEffect(attempt, 'mail', '{"id":7}');
      const done = { verdict: 'done', result: '{"id":7}', payloadHash: null };
      expect(await stage.beginEffect(attempt, 'mail')).toEqual(done);
      const next = await takeover();
      expect(await stage.beginEffect(next, 'mail')).toEqual(done);
      expect(await stage.beginEffect(await takeover(next), 'mail')).toEqual(done);
    });

    it('says that the outcome is unknown when an earlier attempt began and never said how it ended', async () => {
      await stage.beginEffect(attempt, 'mail');
      expect(await stage.beginEffect(await takeover(), 'mail')).toEqual(GO_UNKNOWN);
    });

    it('says so again when the call is sent again: a lost reply must not turn unknown into new', async () => {
      await stage.beginEffect(attempt, 'mail');
      const next = await takeover();
      expect(await stage.beginEffect(next, 'mail')).toEqual(GO_UNKNOWN);
      expect(await stage.beginEffect(next, 'mail')).toEqual(GO_UNKNOWN);
    });

    it('refuses a stale attempt and one that nobody knows, and notes nothing', async () => {
      const next = await takeover();
      expect(await stage.beginEffect(attempt, 'mail')).toEqual(STALE);
      expect(await stage.beginEffect({ ...next, nonce: 'another' }, 'mail')).toEqual(STALE);
      expect(await stage.beginEffect({ ...next, fence: attempt.fence }, 'mail')).toEqual(STALE);
      expect(await stage.beginEffect({ ...next, runId: stage.idOf(9) }, 'mail')).toEqual(STALE);
      expect(await stage.beginEffect(next, 'mail')).toEqual(GO);
      expect(await stage.refusals()).toBe(4);
    });

    it('refuses an attempt whose lease has expired: somebody may be about to take over', async () => {
      await stage.lapse(attempt);
      expect(await stage.beginEffect(attempt, 'mail')).toEqual(STALE);
    });

    it('refuses everybody once the run is over', async () => {
      await stage.ledger.finish(attempt, { kind: 'succeeded' });
      expect(await stage.beginEffect(attempt, 'mail')).toEqual(STALE);
    });
  });

  describe('finishEffect', () => {
    async function resultOf(effect: string, last: AttemptRef): Promise<unknown> {
      return stage.beginEffect(last, effect);
    }

    it('records a done with its result, and says the same when it is sent again', async () => {
      await stage.beginEffect(attempt, 'mail');
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('recorded');
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('recorded');
      expect(await stage.refusals()).toBe(0);
    });

    it('never overwrites a done, not even for the attempt that recorded it', async () => {
      await stage.beginEffect(attempt, 'mail');
      await stage.finishEffect(attempt, 'mail', '1');
      await stage.finishEffect(attempt, 'mail', '2');
      expect(await resultOf('mail', attempt)).toEqual({ verdict: 'done', result: '1', payloadHash: null });
    });

    it('keeps a done that arrives late from a stale attempt as a fact', async () => {
      await stage.beginEffect(attempt, 'mail');
      const next = await takeover();
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('late');
      expect(await stage.finishEffect(attempt, 'mail', '2')).toBe('late');
      expect(await resultOf('mail', next)).toEqual({ verdict: 'done', result: '1', payloadHash: null });
      expect(await stage.finishEffect(next, 'mail', '3')).toBe('known');
      expect(await resultOf('mail', next)).toEqual({ verdict: 'done', result: '1', payloadHash: null });
    });

    it('keeps the done of the attempt that took over when the stale one reports after it', async () => {
      await stage.beginEffect(attempt, 'mail');
      const next = await takeover();
      await stage.beginEffect(next, 'mail');
      expect(await stage.finishEffect(next, 'mail', '2')).toBe('recorded');
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('known');
      expect(await resultOf('mail', next)).toEqual({ verdict: 'done', result: '2', payloadHash: null });
    });

    it('keeps a late done also when the run is over', async () => {
      await stage.beginEffect(attempt, 'mail');
      const next = await takeover();
      await stage.ledger.finish(next, { kind: 'succeeded' });
      const before = await stage.run(attempt.runId);
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('late');
      expect(await stage.run(attempt.runId)).toEqual(before);
    });

    it('refuses a stale attempt that was never allowed to begin, whoever else was', async () => {
      const next = await takeover();
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('stale');
      await stage.beginEffect(next, 'mail');
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('stale');
      expect(await stage.finishEffect({ ...next, nonce: 'another' }, 'mail', '1')).toBe('stale');
      expect(await resultOf('mail', next)).toEqual(GO);
      expect(await stage.refusals()).toBe(3);
    });

    it('refuses it for a run that nobody knows', async () => {
      expect(await stage.finishEffect({ ...attempt, runId: stage.idOf(9) }, 'mail', '1')).toBe('stale');
    });

    it('takes the word of a worker whose lease has just expired: what is done is done', async () => {
      await stage.beginEffect(attempt, 'mail');
      await stage.lapse(attempt);
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('recorded');
      expect(await resultOf('mail', await stage.begun(attempt.runId))).toEqual({
        verdict: 'done',
        result: '1',
        payloadHash: null,
      });
    });
  });
}
