import { parseFence } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { CRON, runAt, START } from '../../../../test/support/audit-history.js';
import type { JournalEntry } from '../journal/journal.js';
import type { Run } from '../../../ledger/src/base/run.js';
import { DuplicateWatch, markerOf, type Look } from './leases-watch.js';

const HOLDING = { holder: 'pod-b/0123456789', fence: parseFence('9'), remainingMs: 1_000 };
const BEFORE = runAt(START, { claimedAt: START, attemptedAt: START + 5, finishedAt: START + 10 });

function watch(...looks: readonly Partial<Look>[]) {
  const watching = new DuplicateWatch(CRON, markerOf(START + 20, { refusals: 3 }, [BEFORE]));
  for (const look of looks) watching.see({ refusals: 3, runs: [BEFORE], entries: [], holding: HOLDING, ...look });
  return watching.report();
}

/** Claimed after the mark. */
function later(second: number, over: Partial<Run> = {}): Run {
  const at = START + second * 1_000;
  return runAt(at, { claimedAt: at, attemptedAt: null, claimFence: parseFence('9'), ...over });
}

describe('a watch for duplicates', () => {
  it('finds nothing where each instant has one run', () => {
    const report = watch({ runs: [later(1), BEFORE] }, { runs: [later(2), later(1), BEFORE] });
    expect(report).toMatchObject({
      cron: CRON,
      from: START + 20,
      observations: [],
      verdict: 'clean',
      holding: HOLDING,
    });
  });

  it('says that nobody has taken the cron', () => {
    expect(watch({ holding: null })).toMatchObject({ verdict: 'free', holding: null });
    expect(watch({ holding: null }, { holding: HOLDING }).verdict).toBe('clean');
  });

  it('finds two runs of one instant, once', () => {
    const runs = [later(1, { id: `${CRON}@other` }), later(1), BEFORE];
    const { observations, verdict } = watch({ runs }, { runs });
    expect(verdict).toBe('duplicate');
    expect(observations).toMatchObject([{ kind: 'two-runs', level: 'bad', runId: `${CRON}@other` }]);
  });

  it('takes runs that a person has asked for as meant', () => {
    const asked = [
      later(1, { id: `${CRON}@manual-1`, reason: 'manual' }),
      later(1, { id: `${CRON}@manual-2`, reason: 'catch-up' }),
      later(1, { id: `${later(1).id}-r1`, reason: 'backfill', claimFence: parseFence('0') }),
    ];
    expect(watch({ runs: [...asked, later(1), BEFORE] }).observations).toEqual([]);
  });

  it('finds a claim under a fence that was over', () => {
    const stale = later(2, { claimFence: parseFence('8'), claimedBy: 'pod-a/0123456789' });
    const { observations, verdict } = watch({ runs: [stale, later(1), BEFORE] });
    expect(verdict).toBe('duplicate');
    expect(observations).toMatchObject([{ kind: 'stale-claim', runId: stale.id }]);
    expect(observations[0]?.text).toContain('pod-a/01234567 under fence 8, after 9');
  });

  it('takes a claim of the old holder before the new one for what it is', () => {
    const old = later(1, { claimFence: parseFence('8') });
    expect(watch({ runs: [later(2), old, BEFORE] }).observations).toEqual([]);
  });

  it('notes each attempt more that began since', () => {
    const again = (attempt: number) => ({ runs: [{ ...BEFORE, attempt, attemptedAt: START + 20_000 }] });
    const { observations, verdict } = watch(again(2), again(2), again(3));
    expect(observations.map(({ kind }) => kind)).toEqual(['second-attempt', 'second-attempt']);
    expect(verdict).toBe('clean');
    expect(watch({ runs: [{ ...BEFORE, attempt: 2 }] }).observations).toEqual([]);
  });

  it('finds a run doubtful that came to wait for a person, and not one that waited before', () => {
    const waits: Run = { ...BEFORE, state: 'uncertain' };
    expect(watch({ runs: [waits] }, { runs: [waits] }).observations).toEqual([]);
    const report = watch({ runs: [BEFORE] }, { runs: [waits] });
    expect(report).toMatchObject({ verdict: 'doubtful', observations: [{ kind: 'uncertain', runId: BEFORE.id }] });
  });

  it('counts what the ledger refused, and tells of whom', () => {
    const entry = { event: 'claim.stale', at: START + 30, pod: 'pod-a/01234567' } as JournalEntry;
    const older = { ...entry, at: START, pod: 'pod-z/01234567' };
    const { observations, verdict } = watch(
      { refusals: 4, entries: [entry, older] },
      { refusals: 5, entries: [entry, older] },
    );
    expect(observations).toMatchObject([{ kind: 'refused', level: 'note' }]);
    expect(observations[0]?.text).toContain('refused 2 times');
    expect(observations[0]?.text).toContain('from pod-a/01234567.');
    expect(verdict).toBe('clean');
  });
});
