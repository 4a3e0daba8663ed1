import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef, CancelReply } from '@fencepost/ledger';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

type Situation = (stage: Stage) => Promise<unknown>;

const NOBODY_WORKS_ON_IT: Record<string, Situation> = {
  'is claimed': (stage) => stage.claimed(1),
  'is enqueued': (stage) => stage.enqueued(1),
  'waits for its next attempt': async (stage) => {
    const attempt = await stage.begun(await stage.enqueued(1));
    await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: LONG_MS });
  },
  'has lost its worker': async (stage) => stage.lapse(await stage.begun(await stage.claimed(1))),
  'is orphaned': async (stage) => stage.orphan(await stage.begun(await stage.claimed(1))),
};

/** Somebody wants a run to stop: at once where nobody carries it out, else within its grace. */
export function cancelContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  function cancel(runId: string, graceMs = LONG_MS, by = 'ada'): Promise<CancelReply> {
    return stage.ledger.cancel(runId, { by, graceMs });
  }

  async function watched(): Promise<number> {
    return (await stage.overdue(LONG_MS)).watched;
  }

  describe('a run that nobody carries out', () => {
    it.each(Object.entries(NOBODY_WORKS_ON_IT))('and %s is cancelled at once', async (_name, situation) => {
      await situation(stage);
      const runId = stage.idOf(1);
      expect(await cancel(runId)).toEqual({ verdict: 'cancelled' });
      const run = await stage.run(runId);
      const at = run.finishedAt;
      expect(run).toMatchObject({
        state: 'cancelled',
        finishedAt: expect.any(Number),
        cancel: { at, by: 'ada', until: at },
      });
      expect(await stage.ledger.pending(stage.cron)).toEqual([]);
      expect(await watched()).toBe(0);
      expect(await stage.ledger.begin(stage.attempt(runId))).toEqual({ verdict: 'terminal', state: 'cancelled' });
      expect(await stage.ledger.redeliver(await stage.delivery(runId), randomUUID())).toBeNull();
      await stage.ledger.confirm([runId]);
      expect(await stage.run(runId)).toEqual(run);
    });

    it('stands in nobody’s way once it is cancelled', async () => {
      await cancel(await stage.enqueued(1));
      expect(await stage.claimed(2, { overlap: 'skip' })).toBe(stage.idOf(2));
    });

    it('is cancelled once: a second order is answered the same, and the first stays who cancelled it', async () => {
      const runId = await stage.enqueued(1);
      await cancel(runId);
      const before = await stage.run(runId);
      await stage.harness.advance(2);
      expect(await cancel(runId)).toEqual({ verdict: 'cancelled' });
      expect(await cancel(runId, LONG_MS, 'bob')).toEqual({ verdict: 'cancelled' });
      expect(await stage.run(runId)).toEqual(before);
    });
  });

  it.each(['succeeded', 'failed'] as const)('a run that has %s is not cancelled any more', async (state) => {
    const attempt = await stage.begun(await stage.claimed(1));
    await stage.ledger.finish(attempt, { kind: state, error: 'it broke' });
    const before = await stage.run(attempt.runId);
    expect(await cancel(attempt.runId)).toEqual({ verdict: 'terminal', state });
    expect(await stage.run(attempt.runId)).toEqual(before);
  });

  it.each([Number.NaN, -1, 1.5])('a grace that is no number of milliseconds is refused (%d)', async (graceMs) => {
    const runId = await stage.claimed(1);
    await expect(cancel(runId, graceMs)).rejects.toThrow(RangeError);
    expect((await stage.run(runId)).state).toBe('claimed');
  });

  describe('a run that a worker carries out', () => {
    let attempt: AttemptRef;
    beforeEach(async () => {
      attempt = await stage.begun(await stage.enqueued(1), { ttlMs: 3 * LONG_MS });
    });

    async function told(graceMs = LONG_MS): Promise<number> {
      const reply = await cancel(attempt.runId, graceMs);
      if (reply.verdict !== 'cancelling') throw new Error(`Expected a grace, got ${JSON.stringify(reply)}.`);
      return reply.until;
    }

    it('is told with its next heartbeat, and goes on meanwhile', async () => {
      const until = await told();
      const run = await stage.run(attempt.runId);
      expect(run).toMatchObject({ state: 'running', cancel: { at: until - LONG_MS, by: 'ada', until } });
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('cancelled');
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('cancelled');
      expect(await stage.beginEffect(attempt, 'undo')).toEqual({ verdict: 'go', unknown: null });
    });

    it('ends as cancelled when its handler stopped, with what it threw', async () => {
      await told();
      expect(await stage.ledger.finish(attempt, { kind: 'cancelled', error: 'told to' })).toBe('cancelled');
      const record = { state: 'cancelled', error: 'told to', finishedAt: expect.any(Number) };
      expect(await stage.run(attempt.runId)).toMatchObject(record);
      expect(await stage.ledger.finish(attempt, { kind: 'cancelled', error: 'told to' })).toBe('cancelled');
      expect([await watched(), await stage.refusals()]).toEqual([0, 0]);
    });

    it.each(['succeeded', 'failed'] as const)(
      'that has %s all the same keeps that: a fact is a fact',
      async (state) => {
        await told();
        expect(await stage.ledger.finish(attempt, { kind: state, error: 'it broke' })).toBe(state);
      },
    );

    it('is not tried again when it failed before it heard of it', async () => {
      await told();
      const retry = { kind: 'retry', error: 'it broke', delayMs: 0 } as const;
      expect(await stage.ledger.finish(attempt, retry)).toBe('cancelled');
      expect(await stage.run(attempt.runId)).toMatchObject({ state: 'cancelled', error: 'it broke', notBefore: null });
      expect(await watched()).toBe(0);
    });

    it('is told once: a second order keeps the earlier end, whoever gives it', async () => {
      const until = await told();
      const before = await stage.run(attempt.runId);
      await stage.harness.advance(2);
      expect(await told()).toBe(until);
      expect(await cancel(attempt.runId, 2 * LONG_MS, 'bob')).toEqual({ verdict: 'cancelling', until });
      expect(await stage.run(attempt.runId)).toEqual(before);
    });

    describe('and does not stop within its grace', () => {
      beforeEach(async () => {
        await told(20);
        // Where the store is slow to be asked, its grace is over already.
        expect(await stage.ledger.heartbeat(attempt, 3 * LONG_MS)).not.toBe('extended');
        await stage.harness.advance(21);
      });

      it('has no heartbeat and no effect any more', async () => {
        expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('stale');
        expect(await stage.beginEffect(attempt, 'mail')).toEqual({ verdict: 'stale' });
      });

      it('is found by the sweep, which delivers nothing and shuts its worker out', async () => {
        const { runs } = await stage.overdue(LONG_MS);
        expect(runs).toEqual([{ runId: attempt.runId, delivery: 1, state: 'running' }]);
        expect(await stage.ledger.redeliver({ runId: attempt.runId, delivery: 1 }, 'a')).toBeNull();
        const record = { state: 'cancelled', delivery: 1, finishedAt: expect.any(Number) };
        expect(await stage.run(attempt.runId)).toMatchObject(record);
        expect(await watched()).toBe(0);
        expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBeNull();
      });

      it('is not begun by whoever gets its delivery', async () => {
        const reply = await stage.ledger.begin(stage.attempt(attempt.runId));
        expect(reply).toEqual({ verdict: 'terminal', state: 'cancelled' });
        expect(await stage.run(attempt.runId)).toMatchObject({ state: 'cancelled', attempt: 1 });
        expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBeNull();
      });
    });

    it('is not handed to another worker if its own dies within the grace', async () => {
      await told();
      await stage.lapse(attempt);
      expect(await stage.ledger.redeliver({ runId: attempt.runId, delivery: 1 }, 'a')).toBeNull();
      expect((await stage.run(attempt.runId)).state).toBe('cancelled');
    });
  });
}
