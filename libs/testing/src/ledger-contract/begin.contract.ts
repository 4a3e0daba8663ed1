import { beforeEach, describe, expect, it } from 'vitest';
import { fence, LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** Starting attempts: who may, and with which fence. */
export function beginContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  describe('begin', () => {
    it('starts the first attempt, and returns the run as it is from now on', async () => {
      const runId = await stage.enqueued(1);
      const reply = await stage.ledger.begin(stage.attempt(runId, { worker: 'worker/7' }));
      const run = await stage.run(runId);
      expect(reply).toEqual({ verdict: 'begun', fence: run.fence, attempt: 1, run });
      expect(run).toMatchObject({ state: 'running', attempt: 1, worker: 'worker/7', startedAt: expect.any(Number) });
      expect(run.attemptedAt).toBe(run.startedAt);
      expect(run.fence).toBeGreaterThanOrEqual((run.startedAt ?? 0) * 1_000);
    });

    it('takes a claimed run out of the pending list: a worker was faster than the confirmation', async () => {
      const runId = await stage.claimed(1);
      await stage.begun(runId);
      expect(await stage.ledger.pending(stage.cron)).toEqual([]);
    });

    it('answers the same when it is sent again', async () => {
      const request = stage.attempt(await stage.enqueued(1));
      const reply = await stage.ledger.begin(request);
      await stage.harness.advance(2);
      expect(await stage.ledger.begin(request)).toEqual(reply);
      expect(await stage.run(request.runId)).toMatchObject({ attempt: 1 });
    });

    it('lets nobody else in while the worker is alive, and says for how long', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      const before = await stage.run(attempt.runId);
      const reply = await stage.ledger.begin(stage.attempt(attempt.runId, { worker: 'worker/2' }));
      expect(reply).toEqual({ verdict: 'busy', waitMs: expect.any(Number) });
      expect(reply).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms > LONG_MS / 2 && ms <= LONG_MS),
      );
      expect(await stage.run(attempt.runId)).toEqual(before);
    });

    it('takes a run over when its lease has expired, under a larger fence', async () => {
      const old = await stage.begun(await stage.enqueued(1));
      const { startedAt } = await stage.run(old.runId);
      await stage.lapse(old);
      const next = await stage.begun(old.runId, { worker: 'worker/2' });
      expect(next.fence).toBeGreaterThan(old.fence);
      const run = await stage.run(old.runId);
      expect(run).toMatchObject({ state: 'running', attempt: 2, worker: 'worker/2', fence: next.fence, startedAt });
      expect(run.attemptedAt).toBeGreaterThan(startedAt ?? 0);
    });

    it('waits for the time a retry was given', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: LONG_MS });
      const reply = await stage.ledger.begin(stage.attempt(attempt.runId));
      expect(reply).toEqual({ verdict: 'not-due', waitMs: expect.any(Number) });
      expect(reply).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms > LONG_MS / 2 && ms <= LONG_MS),
      );
      expect(await stage.run(attempt.runId)).toMatchObject({ state: 'enqueued', attempt: 1 });
    });

    it('goes on when that time has come', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: 5 });
      await stage.harness.advance(6);
      expect(await stage.ledger.begin(stage.attempt(attempt.runId))).toMatchObject({ verdict: 'begun', attempt: 2 });
    });

    it.each(['succeeded', 'failed'] as const)('does nothing to a run that has %s', async (state) => {
      const attempt = await stage.begun(await stage.enqueued(1));
      await stage.ledger.finish(attempt, { kind: state, error: 'it broke' });
      const before = await stage.run(attempt.runId);
      expect(await stage.ledger.begin(stage.attempt(attempt.runId))).toEqual({ verdict: 'terminal', state });
      expect(await stage.run(attempt.runId)).toEqual(before);
    });

    it('knows no run that was never claimed, and makes none', async () => {
      expect(await stage.ledger.begin(stage.attempt(stage.idOf(1)))).toEqual({ verdict: 'missing' });
      expect(await stage.ledger.readRun(stage.idOf(1))).toBeNull();
    });

    it('fails a run whose attempts are used up, with an error that says so', async () => {
      let attempt = await stage.begun(await stage.enqueued(1), { maxAttempts: 2 });
      await stage.lapse(attempt);
      attempt = await stage.begun(attempt.runId, { maxAttempts: 2 });
      await stage.lapse(attempt);
      const failed = { verdict: 'terminal', state: 'failed' };
      // Only the call that ends it says so: a failure is logged once.
      const exhausted = { ...failed, exhausted: true };
      expect(await stage.ledger.begin(stage.attempt(attempt.runId, { maxAttempts: 2 }))).toEqual(exhausted);
      const record = {
        state: 'failed',
        attempt: 2,
        finishedAt: expect.any(Number),
        error: expect.stringContaining('used up'),
      };
      expect(await stage.run(attempt.runId)).toMatchObject(record);
      expect(await stage.ledger.begin(stage.attempt(attempt.runId, { maxAttempts: 9 }))).toEqual(failed);
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBeNull();
    });

    it('issues a larger fence than every earlier one of the cron, over all its runs', async () => {
      const fences: number[] = [];
      for (const n of [1, 2, 3]) await stage.claimed(n);
      for (const n of [2, 1, 3, 1, 2]) {
        const attempt = await stage.begun(stage.idOf(n), { maxAttempts: 9 });
        fences.push(attempt.fence);
        await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: 0 });
      }
      expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b));
      expect(fences).toHaveLength(5);
    });

    it('issues a larger fence also when the clock went back', async () => {
      const old = await stage.begun(await stage.enqueued(1));
      await stage.claimed(2);
      await stage.harness.clockGoesBack(old.runId, 3 * LONG_MS);
      const { fence: last } = await stage.run(old.runId);
      expect((await stage.begun(stage.idOf(2))).fence).toBe((last ?? 0) + 1);
    });
  });

  describe('a run lease that was left by a clock that went back', () => {
    it('is cut to the length its own worker asked for', async () => {
      const attempt = await stage.begun(await stage.enqueued(1), { ttlMs: 20_000 });
      await stage.harness.clockGoesBack(attempt.runId, 100_000);
      const reply = await stage.ledger.begin(stage.attempt(attempt.runId, { ttlMs: 500 }));
      expect(reply).toEqual({ verdict: 'busy', waitMs: 20_000 });
      const again = await stage.ledger.begin(stage.attempt(attempt.runId));
      expect(again).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms <= 20_000),
      );
    });

    it('is not cut for a worker that asks for a shorter one: the run is healthy', async () => {
      const attempt = await stage.begun(await stage.enqueued(1));
      const reply = await stage.ledger.begin(stage.attempt(attempt.runId, { ttlMs: 1 }));
      expect(reply).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms > LONG_MS / 2),
      );
      await stage.harness.advance(2);
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('extended');
    });

    it('is measured by its last heartbeat', async () => {
      const attempt = await stage.begun(await stage.enqueued(1), { ttlMs: 1_000 });
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('extended');
      const reply = await stage.ledger.begin(stage.attempt(attempt.runId, { ttlMs: 1_000 }));
      expect(reply).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms > LONG_MS / 2),
      );
    });
  });

  it('a claim’s fence and a run’s fence are two counters: neither disturbs the other', async () => {
    await stage.begun(await stage.claimed(1, { fence: fence(5) }));
    await stage.claimed(2, { fence: fence(6), term: 'the next' });
    expect((await stage.ledger.readCron(stage.cron)).fence).toBe(6);
  });
}
