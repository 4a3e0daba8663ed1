import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '@fencepost/ledger';
import { fence, LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** What the current attempt may do, and everybody else may not. */
export function attemptContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  let attempt: AttemptRef;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
    attempt = await stage.begun(await stage.enqueued(1));
  });

  /** Attempts that look like the current one in all but one respect. */
  function impostors(): AttemptRef[] {
    return [
      { ...attempt, nonce: 'another' },
      { ...attempt, fence: fence(attempt.fence - 1) },
      { ...attempt, fence: fence(attempt.fence + 1) },
      { ...attempt, runId: stage.idOf(9) },
    ];
  }

  describe('heartbeat', () => {
    it('extends the lease of the current attempt', async () => {
      const other = await stage.begun(await stage.claimed(2), { ttlMs: LONG_MS });
      expect(await stage.ledger.heartbeat(other, 3 * LONG_MS)).toBe('extended');
      const reply = await stage.ledger.begin(stage.attempt(other.runId));
      expect(reply).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms > 2 * LONG_MS && ms <= 3 * LONG_MS),
      );
    });

    it('refuses anybody else, counts it, and changes nothing', async () => {
      for (const impostor of impostors()) expect(await stage.ledger.heartbeat(impostor, 1)).toBe('stale');
      await stage.harness.advance(2);
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('extended');
      expect(await stage.refusals()).toBe(4);
    });

    it('does not revive a lease that has expired, even if nobody has taken over', async () => {
      await stage.lapse(attempt);
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('stale');
      expect(await stage.ledger.begin(stage.attempt(attempt.runId))).toMatchObject({ verdict: 'begun', attempt: 2 });
    });

    it('refuses a stale attempt after the takeover, and the new one stays alive', async () => {
      await stage.lapse(attempt);
      const next = await stage.begun(attempt.runId);
      expect(await stage.ledger.heartbeat(attempt, 1)).toBe('stale');
      await stage.harness.advance(2);
      expect(await stage.ledger.heartbeat(next, LONG_MS)).toBe('extended');
    });
  });

  describe('finish', () => {
    it('ends the run when the handler returned', async () => {
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBe('succeeded');
      const record = { state: 'succeeded', error: null, finishedAt: expect.any(Number), attempt: 1 };
      expect(await stage.run(attempt.runId)).toMatchObject(record);
    });

    it('keeps the run for another attempt, not before its time, with the error of this one', async () => {
      const before = await stage.harness.now();
      expect(await stage.ledger.finish(attempt, { kind: 'retry', error: 'it broke', delayMs: 0 })).toBe('enqueued');
      const run = await stage.run(attempt.runId);
      expect(run).toMatchObject({ state: 'enqueued', error: 'it broke', finishedAt: null, attempt: 1 });
      expect(run.notBefore).toBeGreaterThanOrEqual(before);
      const next = await stage.begun(attempt.runId);
      await stage.ledger.finish(next, { kind: 'succeeded' });
      expect(await stage.run(attempt.runId)).toMatchObject({ state: 'succeeded', error: null, attempt: 2 });
    });

    it('answers the same when it is sent again, also after the run went on', async () => {
      const retry = { kind: 'retry', error: 'it broke', delayMs: 0 } as const;
      await stage.ledger.finish(attempt, retry);
      expect(await stage.ledger.finish(attempt, retry)).toBe('enqueued');
      const next = await stage.begun(attempt.runId);
      expect(await stage.ledger.finish(attempt, retry)).toBe('enqueued');
      expect((await stage.run(attempt.runId)).state).toBe('running');
      await stage.ledger.finish(next, { kind: 'succeeded' });
      expect(await stage.ledger.finish(next, { kind: 'succeeded' })).toBe('succeeded');
      expect(await stage.refusals()).toBe(0);
    });

    it('is refused when it is sent again after a later attempt has ended the run', async () => {
      const retry = { kind: 'retry', error: 'it broke', delayMs: 0 } as const;
      await stage.ledger.finish(attempt, retry);
      await stage.ledger.finish(await stage.begun(attempt.runId), { kind: 'succeeded' });
      expect(await stage.ledger.finish(attempt, retry)).toBeNull();
      expect((await stage.run(attempt.runId)).state).toBe('succeeded');
      expect(await stage.refusals()).toBe(1);
    });

    it('says once and for all how it ended', async () => {
      await stage.ledger.finish(attempt, { kind: 'succeeded' });
      const before = await stage.run(attempt.runId);
      expect(await stage.ledger.finish(attempt, { kind: 'failed', error: 'no' })).toBe('succeeded');
      expect(await stage.run(attempt.runId)).toEqual(before);
    });

    it('refuses anybody else, counts it, and changes nothing', async () => {
      const before = await stage.run(attempt.runId);
      for (const impostor of impostors()) expect(await stage.ledger.finish(impostor, { kind: 'succeeded' })).toBeNull();
      expect(await stage.run(attempt.runId)).toEqual(before);
      expect(await stage.refusals()).toBe(4);
    });

    it('a stale worker that wakes up after the takeover changes nothing', async () => {
      await stage.lapse(attempt);
      const next = await stage.begun(attempt.runId);
      const before = await stage.run(attempt.runId);
      expect(await stage.ledger.finish(attempt, { kind: 'failed', error: 'too late' })).toBeNull();
      expect(await stage.ledger.finish(attempt, { kind: 'retry', error: 'too late', delayMs: 0 })).toBeNull();
      expect(await stage.run(attempt.runId)).toEqual(before);
      expect(await stage.ledger.finish(next, { kind: 'succeeded' })).toBe('succeeded');
      expect(await stage.ledger.finish(attempt, { kind: 'failed', error: 'too late' })).toBeNull();
      expect((await stage.run(attempt.runId)).state).toBe('succeeded');
    });

    it('takes the word of a worker whose lease has expired as long as nobody has noticed', async () => {
      await stage.lapse(attempt);
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBe('succeeded');
    });
  });
}
