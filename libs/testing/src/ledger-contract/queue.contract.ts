import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef, BeginReply, ClaimRequest } from '@fencepost/ledger';
import type { OverlapPolicy } from '@fencepost/ledger/run';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** Whose turn it is, and who comes too late: decided when an attempt begins. */
export function queueContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  function begin(n: number): Promise<BeginReply> {
    return stage.ledger.begin(stage.attempt(stage.idOf(n)));
  }

  const verdicts = async (...ns: number[]) => {
    const seen: string[] = [];
    for (const n of ns) seen.push((await begin(n)).verdict);
    return seen;
  };

  async function running(n: number, over: Partial<ClaimRequest> = {}): Promise<AttemptRef> {
    return stage.begun(await stage.enqueued(n, over));
  }

  function succeed(attempt: AttemptRef): Promise<unknown> {
    return stage.ledger.finish(attempt, { kind: 'succeeded' });
  }

  describe('while as many runs go on as may', () => {
    const WAITING: OverlapPolicy[] = ['queue-one', 'queue-all', 'replace'];

    it.each(WAITING)('the next one of "%s" waits, and is asked again within a second', async (overlap) => {
      const first = await running(1);
      await stage.enqueued(2, { overlap });
      expect(await begin(2)).toEqual({ verdict: 'busy', waitMs: overlap === 'queue-all' ? 250 : 1_000 });
      expect(await stage.run(stage.idOf(2))).toMatchObject({ state: 'enqueued', attempt: 0 });
      await succeed(first);
      expect(await verdicts(2)).toEqual(['begun']);
    });

    it('waits no longer than the worker of another one is sure to be alive', async () => {
      await stage.begun(await stage.enqueued(1), { ttlMs: 400 });
      await stage.enqueued(2, { overlap: 'queue-one' });
      const reply = await begin(2);
      // Where the store is slow to be asked, the lease has run out by then.
      expect(reply).toSatisfy(() => reply.verdict !== 'busy' || reply.waitMs <= 400);
    });

    it.each([...WAITING, 'skip'] as const)('"%s" lets as many begin as may go on at once', async (overlap) => {
      const limited = { overlap, maxConcurrency: 2 };
      for (const n of [1, 2]) await stage.enqueued(n, limited);
      const first = await stage.begun(stage.idOf(1));
      await stage.begun(stage.idOf(2));
      await stage.claimed(3);
      const second = await stage.run(stage.idOf(2));
      expect(second.state).toBe('running');
      await stage.orphan(first);
      await stage.begun(stage.idOf(3));
      expect((await begin(1)).verdict).toBe('busy');
    });

    it('a run whose worker is gone does not count', async () => {
      await stage.lapse(await running(1));
      await stage.orphan(await running(2));
      await stage.enqueued(3, { overlap: 'queue-all' });
      expect(await verdicts(3)).toEqual(['begun']);
    });
  });

  describe('a queue of all', () => {
    beforeEach(async () => {
      for (const n of [1, 2, 3]) await stage.enqueued(n, { overlap: 'queue-all' });
    });

    it('goes in the order of its instants, one after the other', async () => {
      expect(await verdicts(3, 2)).toEqual(['busy', 'busy']);
      for (const n of [1, 2, 3]) {
        const attempt = await stage.begun(stage.idOf(n));
        expect(await verdicts(...[1, 2, 3].filter((other) => other > n))).not.toContain('begun');
        await succeed(attempt);
      }
    });
  });

  it('a queue of all lets the two at its head begin where two may go on', async () => {
    for (const n of [1, 2, 3, 4]) await stage.enqueued(n, { overlap: 'queue-all', maxConcurrency: 2 });
    expect(await verdicts(4, 3, 2, 1, 3)).toEqual(['busy', 'busy', 'begun', 'begun', 'busy']);
  });

  describe('a run that replaces another', () => {
    it('waits while that one has its grace, and begins when it has stopped', async () => {
      const old = await running(1);
      await stage.enqueued(2, { overlap: 'replace', cancelGraceMs: LONG_MS });
      expect(await stage.ledger.heartbeat(old, LONG_MS)).toBe('cancelled');
      expect(await verdicts(2)).toEqual(['busy']);
      await stage.ledger.finish(old, { kind: 'cancelled', error: 'told to' });
      expect(await verdicts(2)).toEqual(['begun']);
    });

    it('fences it out when its grace is over, before it begins itself', async () => {
      const old = await running(1);
      await stage.enqueued(2, { overlap: 'replace', cancelGraceMs: 20 });
      await stage.ledger.heartbeat(old, LONG_MS);
      await stage.harness.advance(21);
      const successor = await stage.begun(stage.idOf(2));
      expect(successor.fence).toBeGreaterThan(old.fence);
      const record = {
        state: 'cancelled',
        finishedAt: expect.any(Number),
        cancel: { by: `replaced by ${stage.idOf(2)}` },
      };
      expect(await stage.run(old.runId)).toMatchObject(record);
      expect(await stage.ledger.finish(old, { kind: 'succeeded' })).toBeNull();
      expect((await stage.run(old.runId)).state).toBe('cancelled');
      expect((await stage.overdue(LONG_MS)).watched).toBe(1);
    });
  });

  describe('a start deadline', () => {
    it.each(['claimed', 'enqueued'] as const)('that has passed ends a run that is %s as a misfire', async (state) => {
      const runId = await stage[state](1, { startBy: stage.instant(1) });
      expect(await begin(1)).toEqual({ verdict: 'terminal', state: 'skipped' });
      const run = await stage.run(runId);
      expect(run).toMatchObject({ skipped: 'misfire', attempt: 0, finishedAt: expect.any(Number) });
      expect(await begin(1)).toEqual({ verdict: 'terminal', state: 'skipped' });
      expect(await stage.run(runId)).toEqual(run);
      expect(await stage.ledger.pending(stage.cron)).toEqual([]);
      expect(await stage.overdue(1)).toMatchObject({ runs: [], watched: 0 });
    });

    it('that has passed is noticed by the sweep where no worker ever comes', async () => {
      const runId = await stage.enqueued(1, { startBy: stage.instant(1) });
      expect(await stage.ledger.redeliver({ runId, delivery: 1 }, 'a')).toBeNull();
      expect(await stage.run(runId)).toMatchObject({ state: 'skipped', skipped: 'misfire', delivery: 1 });
    });

    it('that is still to come lets the run begin, and does not concern its later attempts', async () => {
      const startBy = (await stage.harness.now()) + 1_000;
      const attempt = await stage.begun(await stage.claimed(1, { startBy }));
      await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: 0 });
      await stage.harness.advance(1_001);
      expect(await stage.ledger.redeliver({ runId: attempt.runId, delivery: 1 }, 'a')).toMatchObject({ delivery: 2 });
      expect(await begin(1)).toMatchObject({ verdict: 'begun', attempt: 2 });
    });
  });

  describe('why a run waits', () => {
    const WHY = 'no-capable-worker';

    it('is noted with it and cleared by its next attempt, and changes nothing else', async () => {
      const before = await stage.run(await stage.enqueued(1));
      expect(before.waiting).toBeNull();
      await stage.ledger.noteWaiting(before.id, WHY);
      expect(await stage.run(before.id)).toEqual({ ...before, waiting: WHY });
      await stage.begun(before.id);
      expect((await stage.run(before.id)).waiting).toBeNull();
    });

    it('is not noted with a run that goes on, is over, or was never there', async () => {
      const attempt = await running(1);
      await stage.ledger.noteWaiting(attempt.runId, WHY);
      expect((await stage.run(attempt.runId)).waiting).toBeNull();
      await succeed(attempt);
      await stage.ledger.noteWaiting(attempt.runId, WHY);
      expect((await stage.run(attempt.runId)).waiting).toBeNull();
      await stage.ledger.noteWaiting(stage.idOf(9), WHY);
      expect(await stage.ledger.readRun(stage.idOf(9))).toBeNull();
    });
  });

  it('what is watched are the runs that are not over', async () => {
    expect(await stage.overdue(1)).toMatchObject({ runs: [], watched: 0 });
    await stage.claimed(1);
    await stage.enqueued(2);
    const attempt = await running(3);
    await stage.orphan(await running(4));
    expect((await stage.overdue(LONG_MS)).watched).toBe(4);
    await succeed(attempt);
    expect((await stage.overdue(LONG_MS)).watched).toBe(3);
  });
}
