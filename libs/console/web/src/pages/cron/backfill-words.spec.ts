import { describe, expect, it } from 'vitest';
import type { BackfillReport } from '../../data/types.js';
import { backfillText } from './backfill-words.js';

const CRON = { cursor: '2026-11-21T03:00:00.000Z', state: 'firing' } as const;

function report(words: Partial<BackfillReport>): BackfillReport {
  const done = { cron: 'a', dryRun: true, instants: 3, accepted: 0, left: {}, runIds: [], aborted: false };
  return { ...done, nextFrom: null, estimateMs: null, ...words };
}

describe('the answer to a backfill', () => {
  it('counts what runs, and what is left alone by why', () => {
    const text = backfillText(report({ instants: 5, accepted: 3, left: { succeeded: 2 } }), CRON);
    expect(text).toBe('3 of 5 instants run; not repeated: 2 succeeded.');
    expect(backfillText(report({ accepted: 3 }), CRON)).toBe('3 of 3 instants run.');
  });

  it('says how long it takes, where earlier runs tell', () => {
    expect(backfillText(report({ accepted: 3, estimateMs: 90_000 }), CRON)).toContain('about 1 min 30 s.');
  });

  it.each([
    [{ ...CRON, cursor: null }, /has not fired yet: instants after its creation are left to the schedule/],
    [CRON, /Later instants are left to the schedule\.$/],
    [{ ...CRON, state: 'disabled' } as const, /should the cron fire again/],
  ])('says why nothing is made up for of what is ahead of %j', (cron, why) => {
    const text = backfillText(report({ left: { ahead: 3 } }), cron);
    expect(text).toContain('0 of 3 instants run; not repeated: 3 ahead. ');
    expect(text).toMatch(why);
  });
});
