import { describe, expect, it } from 'vitest';
import { entryOf, generationsOf, SECOND, START, type Change } from '../../../../test/support/audit-history.js';
import { planBackfill } from './plan-backfill.js';

const at = (second: number) => START + second * SECOND;

/** The seconds of the instants, and whose they are. */
function plan(changes: readonly Change[], from: number, to: number): [number, number][] {
  const planned = planBackfill(entryOf(generationsOf(...changes)), at(from), at(to));
  return planned.map(({ scheduledAt, generation }) => [(scheduledAt - START) / SECOND, generation.generation]);
}

describe('the instants of a backfill', () => {
  it('are those from its beginning on and before its end', () => {
    expect(plan([{ since: START }], 2, 5)).toEqual([
      [2, 1],
      [3, 1],
      [4, 1],
    ]);
  });

  it('are those of the generation that each belongs to, the instant of a change being the older one’s', () => {
    const changes = [{ since: START }, { since: at(4), expression: '*/3 * * * * *' }];
    expect(plan(changes, 2, 10)).toEqual([
      [2, 1],
      [3, 1],
      [4, 1],
      [6, 2],
      [9, 2],
    ]);
  });

  it('are those of the oldest schedule before the cron was there', () => {
    const changes = [{ since: START, expression: '*/5 * * * * *' }, { since: at(6) }];
    expect(plan(changes, -11, 8)).toEqual([
      [-10, 1],
      [-5, 1],
      [0, 1],
      [5, 1],
      [7, 2],
    ]);
  });

  it('are none of a time in which it did not fire', () => {
    const removed = [{ since: START }, { since: at(2), state: 'removed' as const }, { since: at(5) }];
    expect(plan(removed, 1, 8).map(([second]) => second)).toEqual([1, 2, 6, 7]);
    const disabled = [{ since: START, state: 'disabled' as const }, { since: at(3) }];
    expect(plan(disabled, -2, 6).map(([second]) => second)).toEqual([-2, -1, 0, 4, 5]);
  });

  it('are a hundred thousand at the most: of more it says where to begin', () => {
    expect(plan([{ since: START }], 0, 100_000)).toHaveLength(100_000);
    expect(() => plan([{ since: START }], 0, 100_001)).toThrow(
      'Expected at most 100000 instants of the cron "tick" in one backfill, got more: start with the range before ' +
        '2026-03-03T11:46:40.000Z.',
    );
  });
});
