import { describe, expect, it } from 'vitest';
import { every, merged, misfire, onTime, plan } from './planned.stage.js';
import type { Plan } from './misfire.js';

describe("under 'fire-all', what is asked of the ledger", () => {
  const all = { misfire: 'fire-all', catchUpWindowMs: 60_000 } as const;
  const at = (scheduledAt: number, reason: string) => ({ scheduledAt, dueAt: scheduledAt, reason, missed: null });

  it('is the occurrence that is due, as ever', () => {
    expect(plan({ definition: all })).toEqual({ skips: [], occurrence: onTime });
  });

  it('is the oldest that was missed, then the next, and in the end the one that is on time', () => {
    const asked: (Plan | null)[] = [];
    for (const cursor of [100_000, 101_000, 102_000, 103_000]) {
      asked.push(plan({ cursor, now: 103_000, definition: all }));
    }
    expect(asked).toEqual([
      { skips: [], occurrence: at(101_000, 'catch-up') },
      { skips: [], occurrence: at(102_000, 'catch-up') },
      { skips: [], occurrence: at(103_000, 'schedule') },
      null,
    ]);
  });

  it('leaves out what is older than the window', () => {
    expect(plan({ now: 110_500, definition: { ...all, graceMs: 500, catchUpWindowMs: 3_500 } })).toEqual({
      skips: [misfire(100_000, 106_000)],
      occurrence: at(107_000, 'catch-up'),
    });
    const hourly = { schedule: every(3_600_000), cursor: 0, now: 7_200_000 + 600_000 };
    expect(plan({ ...hourly, definition: { ...all, catchUpWindowMs: 599_999 } })).toEqual({
      skips: [misfire(0, 7_200_000)],
      occurrence: null,
    });
  });

  it('is at most so many missed ones, the newest of them, and twenty unless it says otherwise', () => {
    const definition = { ...all, graceMs: 500 };
    expect(plan({ now: 140_000, definition: { ...definition, maxCatchUp: 3 } })).toEqual({
      skips: [misfire(100_000, 136_000)],
      occurrence: at(137_000, 'catch-up'),
    });
    expect(plan({ now: 140_000, definition })?.occurrence).toEqual(at(120_000, 'catch-up'));
  });

  it('merges those within their grace that are too many into the first that runs', () => {
    const definition = { ...all, graceMs: 10_000, maxCatchUp: 3 };
    expect(plan({ now: 140_000, definition })).toEqual({
      skips: [misfire(100_000, 129_000), merged(129_000, 136_000)],
      occurrence: { ...at(137_000, 'catch-up'), missed: { count: 7, from: 130_000, to: 136_000 } },
    });
    expect(plan({ now: 140_000, cursor: 137_000, definition })).toEqual({
      skips: [],
      occurrence: at(138_000, 'catch-up'),
    });
  });
});

describe('with a start deadline, what is asked of the ledger', () => {
  const hourly = { schedule: every(3_600_000), cursor: 0 };
  const due = 2 * 3_600_000;
  const definition = { catchUpWindowMs: 24 * 3_600_000, startDeadlineMs: 5_000 };

  it.each(['skip', 'fire-once', 'fire-all'] as const)('is nothing that is later than that, under %s', (policy) => {
    const at = (now: number) => plan({ ...hourly, now, definition: { ...definition, misfire: policy } });
    expect(at(due + 5_000)?.occurrence).toMatchObject({ scheduledAt: due });
    expect(at(due + 5_001)).toEqual({ skips: [misfire(0, due)], occurrence: null });
  });

  it.each(['fire-once', 'fire-all'] as const)('is made up for only as far back as that, under %s', (policy) => {
    const found = plan({ now: 110_500, definition: { ...definition, misfire: policy } });
    expect(found?.skips[0]).toEqual(misfire(100_000, 105_000));
  });

  it('is a late run as well, as long as the deadline is not over', () => {
    const patient = { ...definition, startDeadlineMs: 600_000 };
    expect(plan({ ...hourly, cursor: 3_600_000, now: due + 600_000, definition: patient })?.occurrence).toMatchObject({
      reason: 'catch-up',
    });
  });
});

describe('up to where another generation begins', () => {
  it('an instant is this one, and one after it is not', () => {
    expect(plan({ now: 110_500, until: 105_000 })?.occurrence).toMatchObject({ scheduledAt: 105_000 });
    expect(plan({ now: 110_500, until: 104_999 })?.occurrence).toMatchObject({ scheduledAt: 104_000 });
    expect(plan({ now: 110_500, until: 100_999 })).toBeNull();
  });

  it('the latest of them is late by the clock, and not by that time', () => {
    const definition = { graceMs: 5_000, catchUpWindowMs: 5_499 };
    expect(plan({ now: 110_500, until: 105_000, definition })).toEqual({
      skips: [misfire(100_000, 105_000)],
      occurrence: null,
    });
  });
});
