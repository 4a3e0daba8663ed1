import { describe, expect, it } from 'vitest';
import { parseSchedule } from '@fencepost/schedule';
import { every, merged, misfire, onTime, plan, type Case } from './planned.stage.js';

describe('what is asked of the ledger', () => {
  it('is nothing when nothing is due', () => {
    expect(plan({ now: 100_999 })).toBeNull();
  });

  it('is nothing when the cursor is newer than this pod believes it is', () => {
    expect(plan({ cursor: 200_000 })).toBeNull();
    expect(plan({ schedule: parseSchedule({ expression: '0 0 1 1 *', timeZone: 'UTC', seed: 's' }, 0) })).toBeNull();
  });

  it('is the occurrence that is due, from its very instant on', () => {
    expect(plan({ now: 101_000 })).toEqual({ skips: [], occurrence: onTime });
  });

  it('is an ordinary occurrence as long as it is within its grace, and a catch-up after that', () => {
    const hourly = { schedule: every(3_600_000), cursor: 0 };
    const due = 3_600_000;
    expect(plan({ ...hourly, now: due + 60_000 })?.occurrence).toMatchObject({ scheduledAt: due, reason: 'schedule' });
    expect(plan({ ...hourly, now: due + 60_001 })?.occurrence).toMatchObject({ scheduledAt: due, reason: 'catch-up' });
  });

  it('is the latest for all that are within their grace, with the default window of one period', () => {
    const occurrence = { scheduledAt: 110_000, dueAt: 110_000, reason: 'catch-up' };
    expect(plan({ now: 110_500 })).toEqual({
      skips: [merged(100_000, 109_000)],
      occurrence: { ...occurrence, missed: { count: 9, from: 101_000, to: 109_000 } },
    });
    expect(plan({ now: 110_500, definition: { graceMs: 3_500 } })).toEqual({
      skips: [misfire(100_000, 106_000), merged(106_000, 109_000)],
      occurrence: { ...occurrence, missed: { count: 3, from: 107_000, to: 109_000 } },
    });
    expect(plan({ now: 110_500, definition: { graceMs: 500 } })).toEqual({
      skips: [misfire(100_000, 109_000)],
      occurrence: { ...onTime, scheduledAt: 110_000, dueAt: 110_000 },
    });
  });

  it('is the one missed instant together with the next, when the window reaches back to it', () => {
    expect(plan({ now: 102_000, definition: { catchUpWindowMs: 1_000 } })).toEqual({
      skips: [merged(100_000, 101_000)],
      occurrence: {
        scheduledAt: 102_000,
        dueAt: 102_000,
        reason: 'catch-up',
        missed: { count: 1, from: 101_000, to: 101_000 },
      },
    });
    const definition = { graceMs: 500, catchUpWindowMs: 1_000 };
    expect(plan({ now: 102_001, definition })?.skips).toEqual([misfire(100_000, 101_000)]);
  });

  it('is only a record of what was missed when the latest is late and outside the window', () => {
    const input = { schedule: every(3_600_000), cursor: 0, now: 7_200_000 + 600_000 };
    const twoMissed = { skips: [misfire(0, 7_200_000)], occurrence: null };
    expect(plan({ ...input, definition: { catchUpWindowMs: 599_999 } })).toEqual(twoMissed);
    expect(plan({ ...input, definition: { catchUpWindowMs: 600_000 } })?.occurrence).toMatchObject({
      scheduledAt: 7_200_000,
    });
  });

  it('is the occurrence also with a window of nothing, as long as it is within its grace', () => {
    expect(plan({ now: 101_005, definition: { catchUpWindowMs: 0 } })).toEqual({ skips: [], occurrence: onTime });
    expect(plan({ now: 102_005, definition: { catchUpWindowMs: 0 } })?.occurrence).toMatchObject({
      scheduledAt: 102_000,
    });
  });

  it('takes a day for the window when a period is longer', () => {
    const monthly = parseSchedule({ expression: '0 0 1 * *', timeZone: 'UTC', seed: 's' }, 0);
    const [first, day] = [Date.UTC(2030, 0, 1), 24 * 3_600_000];
    const at = (now: number) => plan({ schedule: monthly, cursor: first - 1, now })?.occurrence ?? null;
    expect(at(first + day)).toMatchObject({ reason: 'catch-up' });
    expect(at(first + day + 1)).toBeNull();
  });

  it("makes up for nothing under 'skip'", () => {
    const definition = { misfire: 'skip', graceMs: 500, catchUpWindowMs: 60_000 } as const;
    expect(plan({ now: 101_500, definition })).toEqual({ skips: [], occurrence: onTime });
    expect(plan({ now: 101_501, definition })).toEqual({ skips: [misfire(100_000, 101_000)], occurrence: null });
    expect(plan({ now: 110_000, definition })).toEqual({
      skips: [misfire(100_000, 109_000)],
      occurrence: { ...onTime, scheduledAt: 110_000, dueAt: 110_000 },
    });
  });

  it('counts at most a thousand merged ones, and leaves none of the others out', () => {
    const now = 100_000 + 5_000 * 1_000;
    const found = plan({ now, definition: { catchUpWindowMs: 100_000_000 } });
    expect(found?.occurrence?.missed).toEqual({ count: 1_000, from: now - 1_000_000, to: now - 1_000 });
    expect(found?.skips).toEqual([misfire(100_000, now - 1_001_000), merged(now - 1_001_000, now - 1_000)]);
  });
});

describe('with a spread, what is asked of the ledger', () => {
  const [hour, spreadMs] = [3_600_000, 600_000];
  const spread = { schedule: every(hour), spreadMs, cursor: 0 };
  const due = hour + spreadMs;
  const at = (now: number, definition: Case['definition'] = {}) => plan({ ...spread, now, definition });

  it('is late after its grace, counted from when it was due', () => {
    expect(at(due + 60_000)?.occurrence).toMatchObject({ scheduledAt: hour, dueAt: due, reason: 'schedule' });
    expect(at(due + 60_001)?.occurrence).toMatchObject({ scheduledAt: hour, dueAt: due, reason: 'catch-up' });
    const skip = { misfire: 'skip', graceMs: 500 } as const;
    expect(at(due + 500, skip)?.occurrence).toMatchObject({ scheduledAt: hour });
    expect(at(due + 501, skip)).toEqual({ skips: [misfire(0, hour)], occurrence: null });
  });

  it('reaches back as far as the window, counted from when the missed ones were due', () => {
    const definition = { catchUpWindowMs: hour + 1_000 };
    expect(at(due + hour + 1_000, definition)).toEqual({
      skips: [merged(0, hour)],
      occurrence: {
        scheduledAt: 2 * hour,
        dueAt: due + hour,
        reason: 'catch-up',
        missed: { count: 1, from: hour, to: hour },
      },
    });
    expect(at(due + hour + 1_001, definition)?.skips).toEqual([misfire(0, hour)]);
  });

  it('is only a record when the latest was due before the window', () => {
    const definition = { catchUpWindowMs: 600_000 };
    expect(at(due + 600_000, definition)?.occurrence).toMatchObject({ scheduledAt: hour });
    expect(at(due + 600_001, definition)).toEqual({ skips: [misfire(0, hour)], occurrence: null });
  });
});
