import { describe, expect, it } from 'vitest';
import type { Account } from '@fencepost/ledger';
import type { Run, SkipReason } from '@fencepost/ledger/run';
import {
  generationsOf,
  HOUR,
  OVERLAPPED,
  runAt,
  SECOND,
  START,
  WAITING,
  type Change,
} from '../../../../test/support/audit-history.js';
import { timelineOf, type TimelineFacts } from './timeline.js';

const DAY = 24 * HOUR;
const MINUTE = 60 * SECOND;
const minute = (n: number) => START + n * MINUTE;
const MINUTELY: Change = { since: START, expression: '* * * * *' };

interface Case extends Partial<Omit<TimelineFacts, 'account'>> {
  readonly runs?: readonly Run[];
  readonly skips?: Account['skips'];
  readonly forgotten?: number | null;
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
}

function line({ runs = [], skips = [], forgotten = null, from = START, to = minute(4), limit = 100, ...over }: Case) {
  const facts = { generations: generationsOf(MINUTELY), cursor: minute(3), now: minute(3), ...over };
  const work = timelineOf({ ...facts, account: { runs, skips, forgotten } }, { from, to, limit });
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

const ran = (n: number, over: Partial<Run> = {}) => runAt(minute(n), over);
const range = (after: number, through: number, reason: SkipReason) => ({
  after: minute(after),
  through: minute(through),
  reason,
});
const words = (one: ReturnType<typeof line>) =>
  one.items.map(({ outcome, reason, count }) =>
    [outcome, ...(reason ? [reason] : []), ...(count > 1 ? [count] : [])].join(' '),
  );

describe('a timeline', () => {
  it.each<[string, Partial<Run>, string]>([
    ['ran', {}, 'ran'],
    ['began later than its grace', { startedAt: minute(1) + 61_000 }, 'late'],
    ['needed two attempts', { attempt: 2 }, 'retried'],
    ['goes on', { state: 'running', finishedAt: null }, 'running'],
    ['has not begun', WAITING, 'waiting'],
    ['finds no worker', { ...WAITING, waiting: 'no-capable-worker' }, 'waiting no-capable-worker'],
    ['waits for its next attempt', { ...WAITING, attempt: 1 }, 'waiting retry'],
    ['lost its worker', { state: 'orphaned', finishedAt: null }, 'waiting orphaned'],
    ['failed', { state: 'failed' }, 'failed'],
    ['was cancelled', { state: 'cancelled' }, 'cancelled'],
    ['waits for a person', { state: 'uncertain', finishedAt: null }, 'uncertain'],
    ['was skipped', OVERLAPPED, 'skipped overlap'],
    ['stands for others', { reason: 'catch-up' }, 'ran catch-up'],
    ['was asked for later', { reason: 'backfill' }, 'ran backfill'],
  ])('shows an instant whose run %s', (_, over, expected) => {
    const one = line({ runs: [ran(1, over)], to: minute(2), from: minute(1) });
    expect(words(one)).toEqual([expected]);
    expect(one.items[0]).toMatchObject({ scheduledAt: minute(1), runId: `tick@${minute(1)}`, until: null });
  });

  it('shows instants without a run: skipped, merged into which run, missed, not claimed yet, and to come', () => {
    const catchUp = ran(5, { reason: 'catch-up', missed: { count: 2, from: minute(3), to: minute(4) } });
    const one = line({
      ...{ skips: [range(0, 2, 'paused'), range(2, 4, 'merged')], runs: [catchUp], cursor: minute(6) },
      ...{ to: minute(9), now: minute(7) + 1 },
    });
    expect(words(one)).toEqual([
      'skipped paused 2',
      'merged 2',
      'ran catch-up',
      'missed',
      'waiting unclaimed',
      'ahead',
    ]);
    expect(one.items[0]).toMatchObject({ scheduledAt: minute(1), until: minute(2) });
    expect(one.items[1]).toMatchObject({ runId: catchUp.id });
  });

  it('says nothing of what the ledger may have forgotten', () => {
    expect(words(line({ forgotten: minute(2) }))).toEqual(['missed']);
  });

  it('shows what somebody asked for between the instants, and a second run of the same one', () => {
    const manual = runAt(minute(1) + 5_000, { id: 'tick@manual-1', reason: 'manual' });
    const rerun = ran(2, { id: `tick@${minute(2)}-r1`, reason: 'manual' });
    const one = line({ runs: [rerun, manual, ran(2, { state: 'failed' }), ran(1)], to: minute(3) });
    expect(words(one)).toEqual(['ran', 'ran manual', 'failed', 'ran manual']);
  });

  it('shows the run of an instant that was skipped first and run later', () => {
    const one = line({ skips: [range(0, 2, 'paused')], runs: [ran(1, { reason: 'backfill' })], to: minute(3) });
    expect(words(one)).toEqual(['ran backfill', 'skipped paused']);
  });

  it('has no instants while the cron was disabled, and those of each generation by its own schedule', () => {
    const generations = generationsOf(
      MINUTELY,
      { since: minute(2), state: 'disabled' },
      { since: minute(5), expression: '*/5 * * * *' },
    );
    const one = line({ generations, now: START, cursor: null, to: minute(20) });
    expect(one.items.map(({ scheduledAt }) => (scheduledAt - START) / MINUTE)).toEqual([1, 2, 10, 15]);
  });

  it('of a day of a cron that fires each second is as short as what happened', () => {
    const generations = generationsOf({ since: START - DAY });
    const one = line({
      ...{ generations, from: START - DAY, to: START + DAY, limit: 1_000, cursor: START, now: START },
      skips: [{ after: START - DAY, through: START, reason: 'paused' }],
      runs: [runAt(START - HOUR)],
    });
    const [head, ...rest] = one.items;
    expect(head).toMatchObject({ outcome: 'skipped', count: 23 * 3_600 - 1 });
    expect(rest[0]).toMatchObject({ outcome: 'ran' });
    expect(one.items.length).toBeLessThan(60);
    expect(one.more).toBe(START - DAY + 100_001 * SECOND);
    const next = line({ generations, from: one.more!, to: START + DAY, limit: 1_000, cursor: START, now: START });
    expect(next.more).toBeNull();
    expect(next.items.at(-1)).toMatchObject({ outcome: 'ahead', until: START + DAY - SECOND });
  });

  it.each(['manual', 'backfill'] as const)(
    'says of a run that somebody asked for that it was: %s, and has no lateness',
    (asked) => {
      const { items } = line({ runs: [ran(1, { reason: asked, startedAt: minute(1) + 90_000_000 }), ran(2)] });
      const [one, other] = items;
      expect([one?.asked, one?.lateByMs, one?.outcome]).toEqual([asked, null, 'ran']);
      expect(other?.asked).toBeNull();
    },
  );
});
