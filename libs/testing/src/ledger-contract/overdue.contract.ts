import { describe, expect, it } from 'vitest';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** What is due for a look of many crons at once. */
export function overdueContract(makeHarness: MakeLedgerHarness): void {
  const KEEP = { againMs: LONG_MS, keep: 1_000 };

  async function found(stage: Stage, crons: readonly string[], options = KEEP) {
    const settled = await stage.ledger.overdueAll(crons, options);
    return settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason));
  }

  async function claim(stage: Stage, cron: string, n = 1) {
    const { cursor } = await stage.ledger.readCron(cron);
    await stage.ledger.claim({ ...(await stage.request(n)), cron, cursor });
    return { runId: `${cron}@${stage.instant(n)}`, delivery: 1, state: 'claimed' };
  }

  describe('withOpenRuns', () => {
    it('names the crons with open runs among five hundred, and few others', async () => {
      const stage = await Stage.of(makeHarness, { recoverMs: LONG_MS });
      const crons = Array.from({ length: 500 }, (_, n) => `cron-${n}`);
      expect(await stage.ledger.withOpenRuns(crons)).toEqual([]);
      await claim(stage, 'cron-3');
      await claim(stage, 'cron-450');
      const named = await stage.ledger.withOpenRuns(crons);
      expect(named).toEqual(expect.arrayContaining(['cron-3', 'cron-450']));
      expect(named.length).toBeLessThan(40);
      expect(await stage.ledger.withOpenRuns([])).toEqual([]);
    });

    it('names a cron no more when its run has ended', async () => {
      const stage = await Stage.of(makeHarness);
      const { runId } = await claim(stage, stage.cron);
      expect(await stage.ledger.withOpenRuns([stage.cron])).toEqual([stage.cron]);
      await stage.ledger.cancel(runId, { by: 'test', graceMs: 1 });
      expect(await stage.ledger.withOpenRuns([stage.cron])).toEqual([]);
    });
  });

  describe('withPending', () => {
    it('names the crons with runs that were claimed and not confirmed among five hundred', async () => {
      const stage = await Stage.of(makeHarness, { recoverMs: LONG_MS });
      const crons = Array.from({ length: 500 }, (_, n) => `cron-${n}`);
      expect(await stage.ledger.withPending(crons)).toEqual([]);
      const claimed = await claim(stage, 'cron-3');
      await claim(stage, 'cron-450');
      const named = await stage.ledger.withPending(crons);
      expect(named).toEqual(expect.arrayContaining(['cron-3', 'cron-450']));
      expect(named.length).toBeLessThan(40);
      await stage.ledger.cancel(claimed.runId, { by: 'test', graceMs: 1 });
      expect(await stage.ledger.withPending(crons)).not.toContain('cron-3');
      expect(await stage.ledger.withPending([])).toEqual([]);
    });
  });

  describe('overdueAll', () => {
    it('answers of five hundred crons in the order given, of each what is its own', async () => {
      const stage = await Stage.of(makeHarness, { recoverMs: 1, sweepMs: LONG_MS });
      const crons = Array.from({ length: 500 }, (_, n) => `cron-${(n * 7) % 500}`);
      const [lost, waiting] = [crons[3] ?? '', crons[450] ?? ''];
      const runs = [await claim(stage, lost), await claim(stage, lost, 2)];
      await stage.ledger.confirm([(await claim(stage, waiting)).runId]);
      await stage.harness.advance(2);
      const expected = crons.map((cron) => ({
        runs: cron === lost ? runs : [],
        watched: cron === lost ? 2 : cron === waiting ? 1 : 0,
        surplus: false,
        notifications: 0,
      }));
      expect(await found(stage, crons)).toEqual(expected);
      // Each of them has moved its own looks alone.
      expect((await found(stage, [waiting, lost])).map((one) => one)).toMatchObject([
        { runs: [], watched: 1 },
        { runs: [], watched: 2 },
      ]);
    });

    it('shows at most a hundred of each, and of each the rest the next time', async () => {
      const stage = await Stage.of(makeHarness, { recoverMs: 1 });
      for (let n = 1; n <= 101; n += 1) for (const cron of ['a', 'b']) await claim(stage, cron, n);
      await stage.harness.advance(2);
      const shown = async () => (await found(stage, ['a', 'b'])).map(({ runs, watched }) => [runs.length, watched]);
      expect(await shown()).toEqual([
        [100, 101],
        [100, 101],
      ]);
      expect(await shown()).toEqual([
        [1, 101],
        [1, 101],
      ]);
    });

    it('tells of which crons more runs are there than are kept', async () => {
      const stage = await Stage.of(makeHarness);
      for (const n of [1, 2]) await stage.succeeded(n);
      await claim(stage, 'other');
      const surplus = async (keep: number) =>
        (await found(stage, ['other', stage.cron], { againMs: 1, keep })).map((one) => one.surplus);
      expect(await surplus(2)).toEqual([false, false]);
      expect(await surplus(1)).toEqual([false, true]);
      expect(await surplus(0)).toEqual([true, true]);
      expect(await stage.forget(1)).toBe(1);
      expect(await surplus(1)).toEqual([false, false]);
    });
  });
}
