import { beforeEach, describe, expect, it } from 'vitest';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

type Situation = (stage: Stage) => Promise<unknown>;

const BY = { by: 'ada', reason: 'migration' };

const NOTABLE: Record<string, Situation> = {
  'is claimed': (stage) => stage.claimed(1),
  'is enqueued': (stage) => stage.enqueued(1),
  'has a worker': async (stage) => stage.begun(await stage.enqueued(1)),
  'waits for its next attempt': async (stage) => {
    const attempt = await stage.begun(await stage.enqueued(1));
    await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: LONG_MS });
  },
  'is orphaned': async (stage) => stage.orphan(await stage.begun(await stage.claimed(1))),
  'waits for a person': (stage) => stage.uncertain(1),
  'has failed': async (stage) =>
    stage.ledger.finish(await stage.begun(await stage.claimed(1)), { kind: 'failed', error: 'it broke' }),
  'was cancelled': async (stage) => stage.ledger.cancel(await stage.claimed(1), { by: 'ada', graceMs: 0 }),
  'was skipped by the claim': async (stage) => {
    const open = await stage.claimed(1);
    await stage.ledger.claim(await stage.request(2, { overlap: 'skip' }));
    await stage.ledger.finish(await stage.begun(open), { kind: 'succeeded' });
  },
  'was skipped by the trigger': async (stage) => {
    const open = await stage.claimed(1);
    await stage.ledger.trigger(stage.order({ overlap: 'skip' }));
    await stage.ledger.finish(await stage.begun(open), { kind: 'succeeded' });
  },
};

/** Which crons an examination of all of them reads more of. */
export function notableContract(makeHarness: MakeLedgerHarness): void {
  describe('notable', () => {
    let stage: Stage;
    beforeEach(async () => {
      stage = await Stage.of(makeHarness, { recoverMs: LONG_MS });
    });

    it.each(Object.entries(NOTABLE))('names a cron whose newest run %s', async (_name, situation) => {
      await stage.succeeded(0);
      await situation(stage);
      expect(await stage.ledger.notable([stage.cron])).toEqual([stage.cron]);
    });

    it('leaves out a cron without runs, and one whose runs succeeded', async () => {
      expect(await stage.ledger.notable([stage.cron, 'unknown'])).toEqual([]);
      for (const n of [1, 2]) await stage.succeeded(n);
      expect(await stage.ledger.notable([stage.cron, 'unknown'])).toEqual([]);
      expect(await stage.ledger.notable([])).toEqual([]);
    });

    it('names a cron that is paused without an end, also one that was paused with an end before', async () => {
      await stage.ledger.pause(stage.cron, { ...BY, until: (await stage.harness.now()) + LONG_MS });
      await stage.ledger.pause(stage.cron, { ...BY, until: null });
      await stage.ledger.claim(await stage.request(1));
      expect(await stage.ledger.notable([stage.cron])).toEqual([stage.cron]);
    });

    it('names few others among fifteen hundred crons', async () => {
      const crons = Array.from({ length: 1_500 }, (_, n) => `cron-${n}`);
      expect(await stage.ledger.notable(crons)).toEqual([]);
      const noted = ['cron-3', 'cron-1450'];
      for (const cron of noted) await stage.ledger.pause(cron, { ...BY, until: null });
      const named = await stage.ledger.notable(crons);
      expect(named).toEqual(expect.arrayContaining(noted));
      expect(named.length).toBeLessThan(40);
    });
  });
}
