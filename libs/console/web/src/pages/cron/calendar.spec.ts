import { describe, expect, it } from 'vitest';
import type { Outcome, TimelineItem } from '../../data/types.js';
import { calendarOf, type CalendarView } from './calendar.js';

function item(scheduledAt: string, outcome: Outcome = 'ran', words: Partial<TimelineItem> = {}): TimelineItem {
  const nothing = {
    until: null,
    count: 1,
    reason: null,
    runId: null,
    lateByMs: null,
    tookMs: null,
    attempt: 1,
    asked: null,
  };
  return { scheduledAt, outcome, ...nothing, ...words };
}

function calendar(view: CalendarView, span: readonly [string, string, string?], items: readonly TimelineItem[] = []) {
  const [from, to, now = from] = span;
  return calendarOf(items, { view, span: { from, to }, zone: 'Europe/Berlin', now: Date.parse(now) });
}

const WEEK = ['2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'] as const;

describe('the calendar of a cron', () => {
  it('has a row for each day of a week, those without instants as well, and a column for each hour', () => {
    const { rows, axis } = calendar('day', WEEK, [item('2026-11-19T04:00:00.000Z'), item('2026-11-22T04:00:00.000Z')]);
    expect(axis.filter((label) => label !== '')).toEqual(['00', '03', '06', '09', '12', '15', '18', '21']);
    expect(rows.map(({ label, cells }) => [label, cells.map(({ column }) => column)])).toEqual([
      ['Mon 16 Nov', []],
      ['Tue 17 Nov', []],
      ['Wed 18 Nov', []],
      ['Thu 19 Nov', [5]],
      ['Fri 20 Nov', []],
      ['Sat 21 Nov', []],
      ['Sun 22 Nov', [5]],
      ['Mon 23 Nov', []],
    ]);
  });

  it('shows what matters most of several instants, and how many there were', () => {
    const items = [
      item('2026-11-19T04:00:00.000Z'),
      item('2026-11-19T04:20:00.000Z', 'failed'),
      item('2026-11-19T04:40:00.000Z'),
    ];
    const [cell] = calendar('day', WEEK, items).rows[3]?.cells ?? [];
    expect(cell).toMatchObject({ column: 5, outcome: 'failed', count: 3, asked: null });
  });

  it('counts the instants of each row, those to come left out, and those that stand for many as many', () => {
    const items = [
      item('2026-11-19T04:00:00.000Z', 'missed', { count: 4, until: '2026-11-19T07:00:00.000Z' }),
      item('2026-11-19T08:00:00.000Z'),
      item('2026-11-19T09:00:00.000Z', 'ahead'),
    ];
    expect(calendar('day', WEEK, items).rows[3]?.total).toBe(5);
  });

  it('marks as asked for only what somebody asked for in all of its parts', () => {
    const [asked, plain] = [
      item('2026-11-19T04:00:00.000Z', 'ran', { asked: 'backfill' }),
      item('2026-11-19T05:00:00.000Z'),
    ];
    const { rows } = calendar('day', WEEK, [asked, plain]);
    expect(rows[3]?.cells.map((cell) => cell.asked)).toEqual(['backfill', null]);
    const both = calendar('month', WEEK, [asked, plain]).rows[0]?.cells[0];
    expect(both).toMatchObject({ column: 18, count: 2, asked: null });
  });

  it('has hours by minutes for a day, and says where now is', () => {
    const day = ['2026-11-19T23:00:00.000Z', '2026-11-20T23:00:00.000Z', '2026-11-20T05:30:00.000Z'] as const;
    const { rows } = calendar('hour', day, [item('2026-11-20T02:07:00.000Z')]);
    expect(rows).toHaveLength(24);
    expect(rows[0]?.label).toBe('Fri 20 00:00');
    expect(rows[3]).toMatchObject({ label: '03:00', cells: [{ column: 7 }], now: null });
    expect(rows[6]).toMatchObject({ label: '06:00', now: 30 });
  });

  it('has an hour that comes twice as two rows, leaves one out that does not come, and marks both', () => {
    const back = calendar('hour', ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z']).rows;
    expect(back.map(({ label }) => label).slice(1, 5)).toEqual(['01:00', '02:00', '02:00', '03:00']);
    expect(back.flatMap(({ clockChange }, index) => (clockChange ? [index] : []))).toEqual([3]);
    const forward = calendar('hour', ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z']).rows;
    expect(forward.map(({ label }) => label).slice(1, 4)).toEqual(['01:00', '03:00', '04:00']);
    expect(forward.flatMap(({ clockChange }, index) => (clockChange ? [index] : []))).toEqual([2]);
  });

  it('marks the day of a clock change', () => {
    const { rows } = calendar('day', ['2026-10-23T22:00:00.000Z', '2026-10-26T22:59:00.000Z']);
    expect(rows.filter(({ clockChange }) => clockChange).map(({ label }) => label)).toEqual(['Sun 25 Oct']);
  });

  it('has months by days for a longer time, and minutes by seconds for a shorter one', () => {
    const month = calendar(
      'month',
      ['2026-10-24T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
      [item('2026-11-01T12:00:00.000Z')],
    );
    expect(month.rows.map(({ label, cells }) => [label, cells.length])).toEqual([
      ['Oct 2026', 0],
      ['Nov 2026', 1],
    ]);
    expect(month.axis).toHaveLength(31);
    const minutes = calendar(
      'minute',
      ['2026-11-20T02:00:00.000Z', '2026-11-20T02:05:00.000Z'],
      [item('2026-11-20T02:03:09.000Z')],
    );
    expect(minutes.rows[3]).toMatchObject({ label: '03:03', cells: [{ column: 9 }] });
  });
});
