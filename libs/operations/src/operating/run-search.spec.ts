import { describe, expect, it } from 'vitest';
import { UnknownCronError } from '@fencepost/jobs/errors';
import { CRON } from '../../../../test/support/audit-history.js';
import { ended, failedRuns, uncertain } from './failed-runs.stage.js';
import { fingerprintOf } from './run-fingerprint.js';
import { neighboursOf } from './run-neighbours.js';
import { keptRuns, RunSearch, type RunPageQuery } from './run-search.js';

type Runs = Awaited<ReturnType<typeof failedRuns>>;

/** Ids of what is found, in its order. */
async function found({ stage }: Runs, query: Partial<RunPageQuery> = {}): Promise<string[]> {
  return (await new RunSearch(stage).page({ limit: 50, ...query })).runs.map(({ id }) => id);
}

const failedWith = (error: string) => ({ kind: 'failed', error }) as const;

/** Four runs of the cron, a second apart: two failed alike, one otherwise, one asks. */
async function four() {
  const all = await failedRuns();
  const ids: string[] = [];
  for (const [second, error] of [
    [1, 'Error: card 1 refused'],
    [2, 'Error: no paper'],
    [3, 'Error: card 2 refused'],
  ] as const) {
    ids.push(await ended(all, second, failedWith(error)));
    await all.stage.clock.advance(1_000);
  }
  ids.push(await uncertain(all, 4));
  const [one = '', two = '', three = '', asking = ''] = ids;
  return { all, one, two, three, asking };
}

describe('a search over all crons', () => {
  it('finds what is in any of the states, what changed last first', async () => {
    const { all, one, two, three, asking } = await four();
    expect(await found(all, { states: ['failed'] })).toEqual([three, two, one]);
    expect(await found(all, { states: ['failed', 'uncertain'] })).toEqual([asking, three, two, one]);
    expect(await found(all)).toEqual([asking, three, two, one]);
    expect(await found(all, { states: ['succeeded'] })).toEqual([]);
  });

  it('narrows by instant, error, kind of error, attempts, duration and worker', async () => {
    const { all, one, two, three, asking } = await four();
    expect(await found(all, { from: all.stage.at(2), to: all.stage.at(4) })).toEqual([three, two]);
    expect(await found(all, { states: ['failed'], to: all.stage.at(2) })).toEqual([one]);
    expect(await found(all, { error: 'PAPER' })).toEqual([two]);
    expect(await found(all, { fingerprint: fingerprintOf('Error: card 99 refused') })).toEqual([three, one]);
    expect(await found(all, { minAttempts: 2 })).toEqual([]);
    await all.stage.clock.advance(60_000);
    expect(await found(all, { minDurationMs: 60_000 })).toEqual([asking]);
    expect(await found(all, { worker: 'WORK' })).toHaveLength(4);
    expect(await found(all, { worker: 'another' })).toEqual([]);
  });

  it('is of one cron or one tag where that is asked for', async () => {
    const { all } = await four();
    await all.stage.declare({ overlap: 'allow' }, { name: 'other' });
    expect(await found(all, { cron: 'other' })).toEqual([]);
    expect(await found(all, { cron: CRON })).toHaveLength(4);
    expect(await found(all, { tag: 'billing' })).toEqual([]);
    await expect(found(all, { cron: 'tock' })).rejects.toThrow(UnknownCronError);
  });

  it('goes on where the page before ended, also when a run came in between', async () => {
    const { all, one, two, three } = await four();
    const search = new RunSearch(all.stage);
    const first = await search.page({ states: ['failed'], limit: 2 });
    expect(first.runs.map(({ id }) => id)).toEqual([three, two]);
    await ended(all, 5);
    const second = await search.page({ states: ['failed'], limit: 2, cursor: first.next ?? '' });
    expect([second.runs.map(({ id }) => id), second.next]).toEqual([[one], null]);
  });

  it('says when there were more runs than it looks at', async () => {
    const { all } = await four();
    const { ledger, catalog } = all.stage;
    expect(await new RunSearch({ ledger, catalog }).page({ limit: 50 })).toMatchObject({ complete: true });
    const many = (await ledger.runs(CRON, 1)).flatMap((run) => Array.from({ length: 1_000 }, () => run));
    const full = { newestRuns: async () => [many], runsIn: async () => many };
    const search = new RunSearch({ ledger: full, catalog });
    expect(await search.page({ limit: 1 })).toMatchObject({ complete: false });
    expect(await search.page({ limit: 1, states: ['uncertain'] })).toMatchObject({ complete: false });
  });
});

describe('failures', () => {
  it('are grouped by what they failed with, the most frequent first', async () => {
    const { all, one, two, three } = await four();
    const { groups, complete } = await new RunSearch(all.stage).failures({});
    expect(complete).toBe(true);
    expect(groups).toMatchObject([
      { error: 'Error: card 2 refused', count: 2, crons: [CRON], runIds: [three, one] },
      { error: 'Error: no paper', count: 1, runIds: [two] },
    ]);
    const [{ firstAt, lastAt } = { firstAt: 0, lastAt: 0 }] = groups;
    expect(lastAt - firstAt).toBe(2_000);
  });
});

describe('the runs beside one', () => {
  it('are those before and after it, and the success before it; skipped instants are none', async () => {
    const all = await failedRuns();
    await all.stage.ran(1);
    await all.stage.writeOff(1, 2);
    const failed = await ended(all, 3);
    const run = await all.stage.ledger.readRun(failed);
    const beside = await neighboursOf(all.stage.ledger, run!);
    expect(beside).toEqual({ previous: all.stage.idOf(1), next: null, previousSuccess: all.stage.idOf(1) });
    const first = await all.stage.ledger.readRun(all.stage.idOf(1));
    expect(await neighboursOf(all.stage.ledger, first!)).toEqual({
      previous: null,
      next: failed,
      previousSuccess: null,
    });
  });

  describe('in a long history', () => {
    /** A success, failures each second, and an hour later so many failures that the newest 200 runs are among them. */
    async function long(until = 260) {
      const all = await failedRuns();
      await all.stage.clock.advance(8_000_000);
      await all.stage.ran(1);
      for (let second = 2; second < until; second += 1) await ended(all, second);
      for (let second = 4_000; second < 4_220; second += 1) await ended(all, second);
      const looks: number[] = [];
      const ledger = {
        runs: all.stage.ledger.runs.bind(all.stage.ledger),
        account: async (...asked: Parameters<typeof all.stage.ledger.account>) => {
          const account = await all.stage.ledger.account(...asked);
          looks.push(account.runs.length);
          return account;
        },
      };
      const besideOf = async (second: number) =>
        neighboursOf(ledger, (await all.stage.ledger.readRun(all.stage.idOf(second)))!);
      return { besideOf, looks, idOf: (second: number) => all.stage.idOf(second) };
    }

    it('are found from the run itself, in a few looks', async () => {
      const { besideOf, looks, idOf } = await long();
      const successOf = { previousSuccess: idOf(1) };
      expect(await besideOf(100)).toEqual({ previous: idOf(99), next: idOf(101), ...successOf });
      expect(await besideOf(2)).toEqual({ previous: idOf(1), next: idOf(3), ...successOf });
      expect(await besideOf(259)).toEqual({ previous: idOf(258), next: idOf(4_000), ...successOf });
      expect(await besideOf(4_000)).toEqual({ previous: idOf(259), next: idOf(4_001), ...successOf });
      expect(await besideOf(1)).toEqual({ previous: null, next: idOf(2), previousSuccess: null });
      expect(looks.length).toBeLessThanOrEqual(5 * 9);
      expect(Math.max(...looks)).toBeLessThanOrEqual(200);
    });

    it('are not looked for without end', async () => {
      const { besideOf, looks, idOf } = await long(1_000);
      expect(await besideOf(4_219)).toEqual({ previous: idOf(4_218), next: null, previousSuccess: null });
      expect(looks.reduce((sum, read) => sum + read, 0)).toBeLessThanOrEqual(1_000);
    });
  });
});

describe('keptRuns', () => {
  const ledgerOf = (counts: Readonly<Record<string, number>>) => ({
    runsIn: async (_: string, crons: readonly string[], limit: number) =>
      crons.flatMap((cron) => Array.from({ length: Math.min(limit, counts[cron] ?? 0) }, () => ({ cron }) as never)),
  });
  const crons = Array.from({ length: 1_000 }, (_, n) => `c${n}`);
  const bounds = { maxRuns: 5_000, maxOfCron: 1_000 };

  it('reads of the few that have many what the others leave of the bound', async () => {
    const { runs, cut } = await keptRuns(ledgerOf({ c1: 700, c2: 3 }), { state: 'failed', crons }, bounds);
    expect([runs.length, cut.size]).toEqual([703, 0]);
  });

  it('names the crons of which there may be more', async () => {
    const { runs, cut } = await keptRuns(ledgerOf({ c1: 1_700, c2: 3 }), { state: 'failed', crons }, bounds);
    expect([runs.length, [...cut]]).toEqual([1_003, ['c1']]);
  });

  it('reads about as many as it may where all crons have many', async () => {
    const all = Object.fromEntries(crons.map((cron) => [cron, 500]));
    const { runs, cut } = await keptRuns(ledgerOf(all), { state: 'failed', crons }, bounds);
    expect([runs.length, cut.size]).toEqual([5_000, 1_000]);
  });
});
