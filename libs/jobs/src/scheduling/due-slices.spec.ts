import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atMost } from '../../../../test/support/run-length.js';
import { DueSlices, LATE_MS, SLICE } from './due-slices.js';

const HALF = SLICE / 2;
const STEP_MS = 20;

/** Crons by the millisecond at which they are due; names are unique. */
const crons = fc
  .array(fc.record({ at: fc.integer({ min: 0, max: 3_000 }), count: fc.integer({ min: 1, max: 1_500 }) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((bursts) =>
    bursts.flatMap(({ at, count }, n) =>
      Array.from({ length: count }, (_, m) => [`${n}-${m}`, at] as [string, number]),
    ),
  );

/** So many that some are late when others fall due, which would fill every slice. */
const BACKLOG = [0, 600, 620, 640].flatMap((at) =>
  Array.from({ length: at === 0 ? 8_000 : 300 }, (_, n) => [`${at}-${n}`, at] as [string, number]),
);

/** Takes a slice every few milliseconds until nothing is due. @returns when each cron was taken, and the slices */
function drain(all: readonly (readonly [string, number])[]) {
  const slices = new DueSlices();
  for (const [cron, at] of all) slices.index.set(cron, at);
  const taken: { readonly now: number; readonly crons: readonly string[] }[] = [];
  for (let now = 0; slices.index.earliest() !== null; now += STEP_MS) {
    const slice = slices.take(now);
    if (slice === null) continue;
    taken.push({ now, crons: slice.crons });
    slices.end(slice);
  }
  return taken;
}

describe('slices', () => {
  it('take every due cron once, at most so many at a time, each slice in the order of the due times', () => {
    fc.assert(
      fc.property(crons, (all) => {
        const due = new Map(all);
        const taken = drain(all);
        expect(taken.flatMap((slice) => slice.crons).toSorted()).toEqual([...due.keys()].toSorted());
        for (const { now, crons: names } of taken) {
          expect(names.length).toBeLessThanOrEqual(SLICE);
          const times = names.map((name) => due.get(name) ?? Infinity);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
          expect(times.at(-1)).toBeLessThanOrEqual(now);
        }
      }),
      atMost(60),
    );
  });

  it('starve no cron: half of each slice is for those that have waited longest', () => {
    fc.assert(
      fc.property(crons, (all) => {
        const due = new Map(all);
        const waiting = new Map(all);
        for (const { now, crons: names } of drain(all)) {
          const oldest = [...waiting].filter(([, at]) => at <= now).toSorted(([, a], [, b]) => a - b);
          const last = oldest[Math.min(HALF, oldest.length) - 1]?.[1] ?? 0;
          const old = names.filter((name) => (due.get(name) ?? 0) <= last);
          expect(old.length).toBeGreaterThanOrEqual(Math.min(HALF, oldest.length));
          for (const name of names) waiting.delete(name);
        }
      }),
      { ...atMost(60), examples: [[BACKLOG]] },
    );
  });

  it('let a cron that just fell due in at once, unless more of them than half a slice are due before it', () => {
    fc.assert(
      fc.property(crons, (all) => {
        const waiting = new Map(all);
        for (const { now, crons: names } of drain(all)) {
          const recent = [...waiting]
            .filter(([, at]) => at <= now && at > now - LATE_MS)
            .toSorted(([, a], [, b]) => a - b);
          const entitled = recent.slice(0, HALF).map(([, at]) => at);
          for (const name of names) waiting.delete(name);
          const left = [...waiting].filter(([, at]) => at > now - LATE_MS && at <= now).map(([, at]) => at);
          // No cron that waits is due before one of the half slice that was entitled to go.
          expect(Math.min(...left, Infinity)).toBeGreaterThanOrEqual(entitled.at(-1) ?? -Infinity);
        }
      }),
      atMost(60),
    );
  });

  it('are taken while few crons are in progress, so that slow calls for some do not hold up the others', () => {
    const slices = new DueSlices();
    const stuck = Array.from({ length: 10 }, (_, n) => {
      slices.index.set(`stuck-${n}`, n);
      return slices.take(n);
    });
    expect(stuck.map((slice) => slice?.crons)).toEqual(Array.from({ length: 10 }, (_, n) => [`stuck-${n}`]));
    for (let n = 0; n < 3 * SLICE; n += 1) slices.index.set(`cron-${n}`, 20);
    const first = slices.take(20);
    expect(first?.crons).toHaveLength(SLICE);
    expect([slices.nextAt(), slices.take(20)]).toEqual([null, null]);
    expect([slices.lateness(30), slices.backlog(30)]).toEqual([30, 10 + 3 * SLICE]);
    if (first) slices.end(first);
    expect(slices.take(20)?.crons).toHaveLength(SLICE);
  });
});
