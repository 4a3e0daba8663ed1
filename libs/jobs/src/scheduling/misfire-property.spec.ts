import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atMost } from '../../../../test/support/run-length.js';
import { every, plan, type PlannedSchedule } from './planned.stage.js';
import { planOccurrence } from './misfire.js';

describe('a week without pods', () => {
  it.each([
    ['skip', 61],
    ['fire-once', 1_000],
    ['fire-all', 1_000],
  ] as const)('costs few steps and a few ranges for a cron that fires each second, under %s', (policy, most) => {
    let steps = 0;
    const second = every(1_000);
    const counted = <T>(instant: T): T => {
      steps += 1;
      return instant;
    };
    const schedule: PlannedSchedule = {
      next: (after) => counted(second.next(after)),
      previous: (before) => counted(second.previous(before)),
    };
    const definition = { misfire: policy, catchUpWindowMs: 365 * 86_400_000, maxCatchUp: 1_000 };
    const found = plan({ schedule, now: 100_000 + 7 * 86_400_000, definition });
    expect(found?.skips.length).toBeLessThanOrEqual(2);
    expect(found?.occurrence).not.toBeNull();
    expect(steps).toBeLessThanOrEqual(most + 6);
  });
});

describe('whatever was missed', () => {
  const cases = fc.record({
    spreadMs: fc.integer({ min: 0, max: 5_000 }),
    periodMs: fc.integer({ min: 1, max: 5_000 }),
    cursor: fc.integer({ min: 0, max: 20_000 }),
    passedMs: fc.integer({ min: 0, max: 30_000 }),
    untilMs: fc.option(fc.integer({ min: 0, max: 30_000 })),
    misfire: fc.constantFrom('skip' as const, 'fire-once' as const, 'fire-all' as const),
    graceMs: fc.integer({ min: 0, max: 10_000 }),
    catchUpWindowMs: fc.option(fc.integer({ min: 0, max: 30_000 })),
    maxCatchUp: fc.integer({ min: 1, max: 30 }),
    startDeadlineMs: fc.integer({ min: 0, max: 40_000 }),
  });

  it('every instant after the cursor runs or lies in exactly one skipped range, in order, or is left to the next plan', () => {
    fc.assert(
      fc.property(cases, ({ periodMs, spreadMs, cursor, passedMs, untilMs, ...definition }) => {
        const schedule = every(periodMs);
        const now = cursor + passedMs;
        const until = untilMs === null ? Infinity : cursor + untilMs;
        const found = planOccurrence({ schedule, spreadMs, definition, cursor, until, now });
        const instants: number[] = [];
        const isIn = (at: number) => at + spreadMs <= now && at <= until;
        for (let at = schedule.next(cursor) ?? 0; isIn(at); at = schedule.next(at) ?? 0) instants.push(at);
        expect(found === null).toBe(instants.length === 0);
        if (found === null) return;
        const { skips, occurrence } = found;
        const end = occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
        expect((occurrence?.dueAt ?? spreadMs) - (occurrence?.scheduledAt ?? 0)).toBe(spreadMs);
        for (const at of instants) {
          const ranges = skips.filter(({ after, through }) => after < at && at <= through).length;
          expect(ranges + (occurrence?.scheduledAt === at ? 1 : 0)).toBe(at <= end ? 1 : 0);
        }
        expect(instants).toContain(end);
        expect(definition.misfire === 'fire-all' || end === instants.at(-1)).toBe(true);
        const bounds = skips.flatMap(({ after, through }) => [after, through]);
        expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
        for (const { after, through } of skips) expect(after).toBeLessThan(through);
        expect(skips[0]?.after ?? cursor).toBe(cursor);
        const inMerged = skips
          .filter(({ reason }) => reason === 'merged')
          .flatMap(({ after, through }) => instants.filter((at) => after < at && at <= through));
        expect(occurrence?.missed ?? null).toEqual(
          inMerged.length === 0 ? null : { count: inMerged.length, from: inMerged[0], to: inMerged.at(-1) },
        );
        const graceMs = Math.min(definition.graceMs, definition.startDeadlineMs);
        const lateByMs = skips.flatMap(({ reason, through }) =>
          reason === 'misfire' ? [now - spreadMs - through] : [],
        );
        for (const late of lateByMs) expect(late).toBeGreaterThan(graceMs);
      }),
      atMost(500),
    );
  });
});
