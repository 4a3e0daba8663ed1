import type { Run } from '@fencepost/ledger/run';
import { describe, expect, it } from 'vitest';
import { HOUR, runAt, START, WAITING } from '../../../../test/support/audit-history.js';
import { evaluateRules } from '../alarms/evaluate-rules.js';
import { lateBy, outcomeOf } from './timeline-run.js';

/** A run whose instant was ten days ago, and which began now. */
const old = (over: Partial<Run>) =>
  runAt(START, { startedAt: START + 240 * HOUR, finishedAt: START + 241 * HOUR, ...over });

describe('a backfilled or manual run', () => {
  it.each(['backfill', 'manual'] as const)('has no lateness, whenever it began: %s', (reason) => {
    expect(lateBy(old({ reason }))).toBeNull();
    expect(outcomeOf(old({ reason }), 60_000)).toBe('ran');
  });

  it.each(['schedule', 'catch-up'] as const)('is told from one of the schedule, which is late: %s', (reason) => {
    expect(lateBy(old({ reason }))).toBe(240 * HOUR);
    expect(outcomeOf(old({ reason }), 60_000)).toBe('late');
  });

  it.each([
    ['schedule', ['late']],
    ['backfill', []],
    ['manual', []],
  ] as const)('rings no alarm about lateness while it waits: %s', (reason, kinds) => {
    const waiting = runAt(START, { ...WAITING, reason });
    const definition = { name: waiting.cron, lateAfterMs: 60_000 };
    const snapshot = {
      definition,
      now: START + HOUR,
      runs: [waiting],
      countFrom: START,
      successAt: START,
      nextDueAt: null,
    };
    const found = evaluateRules(snapshot as unknown as Parameters<typeof evaluateRules>[0]);
    expect(found.filter(({ kind }) => kind === 'late').map(({ kind }) => kind)).toEqual(kinds);
  });
});
