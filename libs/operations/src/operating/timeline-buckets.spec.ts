import { describe, expect, it } from 'vitest';
import type { SkipReason } from '@fencepost/ledger/run';
import { generationsOf, HOUR, SECOND, START, type Change } from '../../../../test/support/audit-history.js';
import { bucketsOf, type BucketFacts, type TallyRow } from './timeline-buckets.js';

const MINUTE = 60 * SECOND;
const minute = (n: number) => START + n * MINUTE;
const MINUTELY: Change = { since: START, expression: '* * * * *' };
const SECONDLY: Change = { since: START, expression: '* * * * * *' };

const RUNS = { reason: 'schedule', skipped: null, retried: false, late: false, natural: true } as const;
const runs = (n: number, count: number, over: Partial<TallyRow> = {}): TallyRow => ({
  ...{ ...RUNS, at: minute(n), state: 'succeeded', count },
  ...over,
});
const range = (after: number, through: number, reason: SkipReason) => ({
  after: minute(after),
  through: minute(through),
  reason,
});

interface Case extends Partial<Omit<BucketFacts, 'tally'>>, Partial<BucketFacts['tally']> {
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
  readonly bucketMs?: number;
}

function part({ rows = [], skips = [], forgotten = null, more, ...over }: Case) {
  const { from = START, to = minute(20), limit = 100, bucketMs = 10 * MINUTE, ...facts } = over;
  const tally = { rows, skips, forgotten, ...(more !== undefined && { more }) };
  const known = { generations: generationsOf(MINUTELY), cursor: minute(19), now: minute(19), ...facts };
  const work = bucketsOf({ ...known, tally }, { from, to, limit, bucketMs });
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

const words = ({ items }: ReturnType<typeof part>) =>
  items.map(
    ({ scheduledAt, outcome, reason, count }) =>
      `${(scheduledAt - START) / MINUTE} ${outcome}${reason === null ? '' : ` ${reason}`} ${count}`,
  );

describe('a timeline in buckets', () => {
  it('counts runs by what became of them, and each instant once', () => {
    const failed = runs(0, 2, { state: 'failed' });
    const late = runs(0, 1, { late: true });
    const retried = runs(0, 1, { retried: true, late: true });
    const overlap = runs(0, 1, { state: 'skipped', skipped: 'overlap' });
    const found = part({
      rows: [runs(0, 4), failed, late, retried, overlap, runs(10, 10)],
      generations: generationsOf(MINUTELY),
    });
    // The cron is known from START on, so that instant is none of its.
    expect(words(found)).toEqual([
      '0 ran 4',
      '0 failed 2',
      '0 late 1',
      '0 retried 1',
      '0 skipped overlap 1',
      '10 ran 10',
    ]);
    expect(found.items[0]).toMatchObject({ until: minute(10) - 1, runId: null, asked: null });
    expect(found.more).toBeNull();
  });

  it('has what no run has: skipped, merged, missed, not claimed yet, and to come', () => {
    const found = part({
      rows: [runs(0, 3), runs(10, 1)],
      skips: [range(3, 5, 'paused'), range(5, 6, 'merged')],
      ...{ cursor: minute(13), now: minute(16) },
    });
    expect(words(found)).toEqual([
      ...['0 ran 3', '0 missed 3', '0 merged 1', '0 skipped paused 2'],
      ...['10 ran 1', '10 missed 3', '10 waiting unclaimed 3', '10 ahead 3'],
    ]);
  });

  it('counts what somebody asked for beside the instants', () => {
    const manual = runs(0, 2, { reason: 'manual', natural: false });
    const found = part({ rows: [runs(0, 9), runs(10, 10), manual] });
    expect(words(found)).toEqual(['0 ran 9', '0 ran manual 2', '10 ran 10']);
    expect(found.items[1]).toMatchObject({ asked: 'manual' });
  });

  it('says nothing of instants without a run that the ledger may have forgotten', () => {
    expect(words(part({ rows: [runs(10, 9)], forgotten: minute(10) }))).toEqual(['10 ran 9']);
  });

  it('ends at the start of a bucket where more was recorded than is read, or there is no room', () => {
    const rows = [runs(0, 9), runs(10, 2)];
    const cut = part({ rows, more: minute(12) });
    expect([words(cut), cut.more]).toEqual([['0 ran 9'], minute(10)]);
    const full = part({ rows: [...rows, runs(0, 1, { state: 'failed' })], limit: 2 });
    expect(full.more).toBe(minute(10));
  });

  it('ends after 100,000 instants at the latest', () => {
    const to = START + 48 * HOUR;
    const found = part({ generations: generationsOf(SECONDLY), to, bucketMs: HOUR, now: to, cursor: to });
    expect(found.more).toBe(START + 27 * HOUR);
    expect(found.items).toHaveLength(27);
    expect(found.items.at(-1)).toMatchObject({ outcome: 'missed', count: 3_600 });
  });
});
