import { beforeEach, describe, expect, it } from 'vitest';
import { fence, Stage, type MakeLedgerHarness } from './stage.js';

/** What became of the instants of a stretch of time. */
export function accountContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  async function account(from: number, to: number) {
    const { runs, skips, forgotten } = await stage.ledger.account(stage.cron, stage.instant(from), stage.instant(to));
    return { runs: runs.map(({ id }) => id), skips, forgotten };
  }

  const ids = (...ns: number[]) => ns.map((n) => stage.idOf(n));

  describe('the newest runs of many crons', () => {
    const found = async (...asked: Parameters<typeof stage.ledger.newestRuns>) =>
      (await stage.ledger.newestRuns(...asked)).map((runs) => runs.map(({ id }) => id));

    it('are those of each, newest first, in the order asked for', async () => {
      for (const n of [1, 2, 3]) await stage.claimed(n);
      const other = `${stage.cron}-2`;
      expect(await found([other, stage.cron, 'nobody'], 2)).toEqual([[], ids(3, 2), []]);
      expect(await found([stage.cron], 9)).toEqual([ids(3, 2, 1)]);
      expect(await stage.ledger.runs(stage.cron, 2)).toEqual((await stage.ledger.newestRuns([stage.cron], 2))[0]);
      expect(await found([stage.cron, other], 0)).toEqual([[], []]);
      expect(await found([], 5)).toEqual([]);
    });

    it('are those of a range, its end not counted in', async () => {
      for (const n of [1, 2, 3, 4]) await stage.claimed(n);
      const [from, to] = [stage.instant(2), stage.instant(4)];
      expect(await found([stage.cron], 9, { from, to })).toEqual([ids(3, 2)]);
      expect(await found([stage.cron], 1, { from, to })).toEqual([ids(3)]);
      expect(await found([stage.cron], 9, { from })).toEqual([ids(4, 3, 2)]);
      expect(await found([stage.cron], 9, { to })).toEqual([ids(3, 2, 1)]);
    });
  });

  describe('account', () => {
    it('tells the runs from the first instant up to the last, which is not counted in', async () => {
      for (const n of [1, 2, 3, 4]) await stage.claimed(n);
      expect(await account(2, 4)).toEqual({ runs: ids(2, 3), skips: [], forgotten: null });
      expect(await account(4, 9)).toMatchObject({ runs: ids(4) });
      expect(await account(4, 4)).toMatchObject({ runs: [] });
    });

    it('tells every range that an instant of it lies in, and no other', async () => {
      const skips = [stage.range(0, 2), stage.range(2, 4, 'merged'), stage.range(4, 6)];
      await stage.claimed(7, { skips });
      expect(await account(0, 9)).toMatchObject({ skips });
      expect(await account(3, 4)).toMatchObject({ skips: [skips[1]] });
      expect(await account(4, 5)).toMatchObject({ skips: [skips[1], skips[2]] });
      expect(await account(2, 3)).toMatchObject({ skips: [skips[0], skips[1]] });
      expect(await account(6, 7)).toMatchObject({ skips: [skips[2]] });
      expect(await account(7, 9)).toMatchObject({ skips: [] });
      expect(await account(-3, 0)).toMatchObject({ skips: [] });
    });

    it('counts an instant in a range by the millisecond', async () => {
      const skips = [stage.range(0, 2)];
      await stage.claimed(3, { skips });
      const from = stage.instant(0);
      expect((await stage.ledger.account(stage.cron, from, from + 1)).skips).toEqual([]);
      expect((await stage.ledger.account(stage.cron, from, from + 2)).skips).toEqual(skips);
      const end = stage.instant(2);
      expect((await stage.ledger.account(stage.cron, end, end + 1)).skips).toEqual(skips);
      expect((await stage.ledger.account(stage.cron, end + 1, end + 2)).skips).toEqual([]);
    });

    describe('of at most so many runs', () => {
      async function part(from: number, to: number, most: number) {
        const { runs, more } = await stage.ledger.account(stage.cron, stage.instant(from), stage.instant(to), most);
        return { runs: runs.map(({ id }) => id), more };
      }

      it('ends before the instant of the first run that is too many, and says so', async () => {
        for (const n of [1, 2, 3, 4]) await stage.claimed(n);
        expect(await part(0, 9, 2)).toEqual({ runs: ids(1, 2), more: stage.instant(3) });
        expect(await part(3, 9, 2)).toEqual({ runs: ids(3, 4), more: undefined });
        expect(await part(2, 4, 2)).toEqual({ runs: ids(2, 3), more: undefined });
        expect(await part(5, 9, 1)).toEqual({ runs: [], more: undefined });
      });

      it.each([0, -1, 1.5, Number.NaN])('refuses %s', async (most) => {
        await expect(part(0, 9, most)).rejects.toThrow(RangeError);
      });
    });

    it('knows nothing of a cron it has never seen', async () => {
      expect(await account(0, 9)).toEqual({ runs: [], skips: [], forgotten: null });
    });

    it('says up to where runs were forgotten', async () => {
      for (const n of [1, 2, 3]) await stage.succeeded(n);
      await stage.ledger.forget(stage.cron, 1);
      expect(await account(0, 9)).toEqual({ runs: ids(3), skips: [], forgotten: stage.instant(2) });
      await stage.ledger.forget(stage.cron, 1);
      expect(await account(0, 9)).toMatchObject({ forgotten: stage.instant(2) });
    });

    it('says up to where skipped ranges were forgotten', async () => {
      await stage.claimed(7, { skips: [stage.range(0, 2), stage.range(2, 4), stage.range(4, 6)] });
      await stage.ledger.forget(stage.cron, 1);
      expect(await account(0, 9)).toEqual({ runs: ids(7), skips: [stage.range(4, 6)], forgotten: stage.instant(4) });
    });

    it('tells no run of another cron', async () => {
      await stage.ledger.claim({ ...(await stage.request(1)), cron: `${stage.cron}-2`, fence: fence(1) });
      expect(await account(0, 9)).toMatchObject({ runs: [] });
    });
  });
}
