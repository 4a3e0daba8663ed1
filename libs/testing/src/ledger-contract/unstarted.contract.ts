import { beforeEach, describe, expect, it } from 'vitest';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** Which runs of a cron block their successors although no worker has begun them. */
export function unstartedContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  const unstarted = (limit = 10) => stage.ledger.unstarted(stage.cron, limit);
  const idsOf = async (limit?: number) => (await unstarted(limit)).map(({ runId }) => runId);

  describe('the unstarted runs of a cron', () => {
    it('are those that were claimed and those that were enqueued, with their delivery, the oldest first', async () => {
      const first = await stage.enqueued(1);
      const second = await stage.claimed(2);
      await stage.ledger.redeliver({ runId: first, delivery: 1 }, 'a');
      expect(await unstarted()).toEqual([
        { runId: first, delivery: 2, state: 'enqueued' },
        { runId: second, delivery: 1, state: 'claimed' },
      ]);
    });

    it('are as many as were asked for', async () => {
      for (const n of [1, 2, 3]) await stage.claimed(n);
      expect(await idsOf(2)).toEqual([stage.idOf(1), stage.idOf(2)]);
      expect(await idsOf(0)).toEqual([]);
    });

    it('include one that waits for its next attempt', async () => {
      const attempt = await stage.begun(await stage.claimed(1));
      await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: LONG_MS });
      expect(await unstarted()).toEqual([{ runId: attempt.runId, delivery: 1, state: 'enqueued' }]);
    });

    it('have with them how urgent they are', async () => {
      const order = stage.order({ priority: 5 });
      await stage.ledger.trigger(order);
      expect(await unstarted()).toEqual([{ runId: order.runId, delivery: 1, priority: 5, state: 'claimed' }]);
    });

    it('are none that runs, is orphaned, or is over', async () => {
      await stage.begun(await stage.claimed(1));
      await stage.orphan(await stage.begun(await stage.claimed(2)));
      await stage.ledger.finish(await stage.begun(await stage.claimed(3)), { kind: 'succeeded' });
      await stage.ledger.claim(await stage.request(4, { overlap: 'skip' }));
      expect(await unstarted()).toEqual([]);
    });
  });

  describe('a claim says whether it found as many runs open as may be', () => {
    it.each(['queue-one', 'queue-all', 'replace'] as const)('under "%s"', async (overlap) => {
      const claim = async (n: number) => stage.ledger.claim(await stage.request(n, { overlap, maxConcurrency: 2 }));
      expect(await claim(1)).not.toHaveProperty('behind');
      expect(await claim(2)).not.toHaveProperty('behind');
      expect(await claim(3)).toEqual({ verdict: 'claimed', runId: stage.idOf(3), behind: true });
    });

    it('but never under "allow"', async () => {
      await stage.claimed(1);
      expect(await stage.ledger.claim(await stage.request(2))).toEqual({ verdict: 'claimed', runId: stage.idOf(2) });
    });
  });
}
