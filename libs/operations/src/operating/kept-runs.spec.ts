import { describe, expect, it } from 'vitest';
import { keptRuns } from './kept-runs.js';

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
