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

  describe('a tally', () => {
    const kinds = async (...[from, to, bucketMs, most = 1_000]: [number, number, number, most?: number]) => {
      const [begin, end] = [stage.instant(from), stage.instant(to)];
      const tally = await stage.ledger.tally(stage.cron, { from: begin, to: end, bucketMs, graceMs: 0, most });
      return { ...tally, rows: tally.rows.toSorted((a, b) => a.at - b.at || (a.state < b.state ? -1 : 1)) };
    };
    const COMMON = { reason: 'schedule', skipped: null, retried: false, late: false, natural: true };
    const AGE_MS = 10 ** 13;

    it('counts the runs of each bucket by what became of them, and has the ranges and what is forgotten', async () => {
      const skips = [stage.range(0, 2)];
      await stage.claimed(3, { skips });
      for (const n of [4, 5]) await stage.claimed(n);
      await stage.ledger.finish(await stage.begun(stage.idOf(4)), { kind: 'failed', error: 'no' });
      const { rows, skips: found, forgotten, more } = await kinds(0, 9, 1);
      expect(rows).toEqual([
        { ...COMMON, at: stage.instant(3), state: 'claimed', count: 1 },
        { ...COMMON, at: stage.instant(4), state: 'failed', count: 1, late: rows[1]?.late },
        { ...COMMON, at: stage.instant(5), state: 'claimed', count: 1 },
      ]);
      expect([found, forgotten, more]).toEqual([skips, null, undefined]);
      const { rows: inOne } = await kinds(0, 9, AGE_MS);
      expect(inOne.map(({ at, state, count }) => [at, state, count])).toEqual([
        [0, 'claimed', 2],
        [0, 'failed', 1],
      ]);
      expect((await kinds(4, 5, 1)).rows).toHaveLength(1);
    });

    it('says which runs began late, were tried again, were asked for, or were skipped', async () => {
      await stage.claimed(1);
      await stage.begun(stage.idOf(1));
      const run = await stage.ledger.readRun(stage.idOf(1));
      const lateBy = (run?.startedAt ?? 0) - (run?.dueAt ?? 0);
      const asked = { from: stage.instant(1), to: stage.instant(2), bucketMs: 1, most: 9 };
      const lateWith = async (graceMs: number) =>
        (await stage.ledger.tally(stage.cron, { ...asked, graceMs })).rows[0]?.late;
      expect(lateBy).toBeGreaterThan(0);
      expect([await lateWith(lateBy - 1), await lateWith(lateBy)]).toEqual([true, false]);
      expect(await stage.ledger.trigger(stage.backfill(0))).toMatchObject({ verdict: 'claimed' });
      await stage.ledger.trigger(stage.order());
      await stage.ledger.finish(await stage.begun(stage.idOf(0)), { kind: 'retry', error: 'no', delayMs: 0 });
      await stage.begun(stage.idOf(0));
      const all = await stage.ledger.tally(stage.cron, {
        ...asked,
        from: stage.instant(0),
        to: AGE_MS,
        bucketMs: AGE_MS,
        graceMs: 0,
      });
      const rows = all.rows.toSorted((a, b) => (a.reason < b.reason ? -1 : 1));
      expect(rows.map(({ reason, natural, retried, late }) => [reason, natural, retried, late])).toEqual([
        ['backfill', true, true, false],
        ['manual', false, false, false],
        ['schedule', true, false, true],
      ]);
    });

    it('ends before the instant of the first run that is too many, and says so', async () => {
      for (const n of [1, 2, 3, 4]) await stage.claimed(n);
      const first = await kinds(0, 9, 1, 3);
      expect(first.rows.length).toBeGreaterThanOrEqual(2);
      const rest = await stage.ledger.tally(stage.cron, {
        ...{ from: first.more ?? 0, to: stage.instant(9), bucketMs: 1, graceMs: 0, most: 9 },
      });
      expect([...first.rows, ...rest.rows].map(({ at }) => at)).toEqual([1, 2, 3, 4].map((n) => stage.instant(n)));
      expect(rest.more).toBeUndefined();
    });

    it('has nothing of a cron that is not there', async () => {
      const asked = { from: 0, to: 9, bucketMs: 1, graceMs: 0, most: 1 };
      expect(await stage.ledger.tally('nobody', asked)).toEqual({ rows: [], skips: [], forgotten: null });
    });
  });

  it('the newest ranges of many crons are those of each, in the order asked for', async () => {
    const skips = [stage.range(0, 2), stage.range(2, 4)];
    await stage.claimed(5, { skips });
    const found = await stage.ledger.newestSkips(['nobody', stage.cron], 1);
    expect(found).toEqual([[], [skips[1]]]);
    expect(await stage.ledger.newestSkips([stage.cron], 0)).toEqual([[]]);
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
      await stage.forget(1);
      expect(await account(0, 9)).toEqual({ runs: ids(3), skips: [], forgotten: stage.instant(2) });
      await stage.forget(1);
      expect(await account(0, 9)).toMatchObject({ forgotten: stage.instant(2) });
    });

    it('says up to where skipped ranges were forgotten', async () => {
      await stage.claimed(7, { skips: [stage.range(0, 2), stage.range(2, 4), stage.range(4, 6)] });
      await stage.forget(1);
      expect(await account(0, 9)).toEqual({ runs: ids(7), skips: [stage.range(4, 6)], forgotten: stage.instant(4) });
    });

    it('tells no run of another cron', async () => {
      await stage.ledger.claim({ ...(await stage.request(1)), cron: `${stage.cron}-2`, fence: fence(1) });
      expect(await account(0, 9)).toMatchObject({ runs: [] });
    });
  });
}
