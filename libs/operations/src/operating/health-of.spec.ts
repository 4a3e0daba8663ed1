import type { Run, SkipRange } from '@fencepost/ledger/run';
import { describe, expect, it } from 'vitest';
import { definitionOf, entryOf, generationsOf, HOUR, runAt, START } from '../../../../test/support/audit-history.js';
import { historyOf } from './cron-history.js';
import { healthOf, type HealthFacts } from './health-of.js';

const NOW = START + 24 * HOUR;
const ENTRY = entryOf(generationsOf({ since: START }));
const PAUSE = { since: NOW - HOUR, until: null, by: 'anna', reason: 'a flood' };

const ran = (at: number, over: Partial<Run> = {}) => runAt(at, { startedAt: at, finishedAt: at + 10, ...over });
const failed = (at: number, over: Partial<Run> = {}) => ran(at, { state: 'failed', error: 'no', ...over });
const waits = (at: number, over: Partial<Run> = {}) =>
  runAt(at, { state: 'enqueued', startedAt: null, finishedAt: null, attempt: 0, ...over });

function health(runs: readonly Run[], over: Partial<HealthFacts> = {}, skips: readonly SkipRange[] = []) {
  const history = historyOf(runs, skips, ENTRY.definition.graceMs);
  const facts = { entry: ENTRY, record: { paused: null }, uncertain: { count: 0, since: null }, nextDueAt: NOW + 1 };
  return healthOf({ ...facts, history, now: NOW, ...over });
}

const defined = (over: Parameters<typeof definitionOf>[0]) => ({ ...ENTRY, definition: definitionOf(over) });
const every = (ageH: number, of: (at: number) => Run) =>
  Array.from({ length: ageH }, (_, n) => of(NOW - (n + 1) * HOUR));

describe('a cron is', () => {
  it('healthy, and since when', () => {
    expect(health(every(3, ran))).toEqual({ state: 'healthy', since: null, failures: 0, text: 'healthy' });
    const mended = [ran(NOW - HOUR), ran(NOW - 2 * HOUR), failed(NOW - 3 * HOUR)];
    expect(health(mended)).toMatchObject({ state: 'healthy', since: NOW - 2 * HOUR + 10 });
    expect(health([])).toMatchObject({ state: 'healthy', text: 'no runs yet' });
  });

  it('healthy since the end of the last trouble that its runs show', () => {
    const since = (runs: Run[], ...more: [Parameters<typeof health>[1]?, Parameters<typeof health>[2]?]) =>
      health([...runs, failed(NOW - 9 * HOUR)], ...more).since;
    expect(since([ran(NOW - HOUR)])).toBe(NOW - HOUR + 10);
    const { graceMs } = ENTRY.definition;
    const late = (byMs: number) => ran(NOW - 2 * HOUR, { startedAt: NOW - 2 * HOUR + byMs, finishedAt: NOW - HOUR });
    expect(since([late(graceMs + 1), ran(NOW - 8 * HOUR)])).toBe(NOW - 2 * HOUR + graceMs + 1);
    expect(since([late(graceMs), ran(NOW - 8 * HOUR)])).toBe(NOW - 8 * HOUR + 10);
    expect(since([late(0), ran(NOW - 8 * HOUR)], { entry: defined({ lateAfterMs: HOUR / 2 }) })).toBe(NOW - HOUR);
    const misfire = { after: NOW - 4 * HOUR, through: NOW - 3 * HOUR, reason: 'misfire' } as const;
    expect(since([ran(NOW - HOUR), ran(NOW - 8 * HOUR)], {}, [misfire])).toBe(NOW - HOUR);
  });

  it('failing, since the first failure after a success', () => {
    const runs = [failed(NOW - HOUR), failed(NOW - 2 * HOUR), ran(NOW - 3 * HOUR), failed(NOW - 4 * HOUR)];
    const since = NOW - 2 * HOUR + 10;
    expect(health(runs)).toEqual({ state: 'failing', since, failures: 2, text: 'failing (2 in a row)' });
    expect(health(runs.slice(1))).toMatchObject({ failures: 1, text: 'failing' });
  });

  it('failing for at least as long as is known', () => {
    expect(health(every(40, failed))).toMatchObject({ failures: 30, text: 'failing (30 or more in a row)' });
  });

  it('not failing any more when a retry of the failed run has succeeded', () => {
    const retried = ran(NOW - 3 * HOUR, { id: 'tick@retry', reason: 'manual', finishedAt: NOW - HOUR });
    expect(health([failed(NOW - 2 * HOUR), retried])).toMatchObject({ state: 'healthy', failures: 0 });
  });

  it('uncertain before all else, even while it is paused', () => {
    const uncertain = { count: 2, since: NOW - 5 * HOUR };
    const found = health(every(3, failed), { uncertain, record: { paused: PAUSE } });
    expect(found).toEqual({ state: 'uncertain', since: NOW - 5 * HOUR, failures: 3, text: 'uncertain (2 runs)' });
  });

  it('missed while nobody claims an instant that is longer overdue than its grace', () => {
    const { graceMs } = ENTRY.definition;
    const at = (byMs: number) => health(every(3, ran), { nextDueAt: NOW - byMs });
    expect(at(graceMs + 1)).toMatchObject({ state: 'missed', since: NOW - graceMs - 1 });
    expect(at(graceMs)).toMatchObject({ state: 'healthy' });
    // What was read is a moment old.
    expect(health([], { entry: defined({ graceMs: 0 }), nextDueAt: NOW - 9_000 })).toMatchObject({ state: 'healthy' });
  });

  it('missed while its newest instant was written off as misfire, whatever somebody asked for since', () => {
    const range = { after: NOW - 3 * HOUR, through: NOW - 2 * HOUR, reason: 'misfire' } as const;
    const asked = ran(NOW - HOUR, { reason: 'manual' });
    expect(health([asked, ran(NOW - 4 * HOUR)], {}, [range])).toMatchObject({ state: 'missed', since: NOW - 2 * HOUR });
    expect(health([ran(NOW - HOUR)], {}, [range])).toMatchObject({ state: 'healthy' });
  });

  it('missed when it has not succeeded as often as is expected, without the time in which it was paused', () => {
    const entry = defined({ expectEveryMs: 2 * HOUR });
    const runs = [ran(NOW - 3 * HOUR)];
    expect(health(runs, { entry })).toMatchObject({ state: 'missed', since: NOW - HOUR + 10 });
    const paused = { after: NOW - 3 * HOUR, through: NOW - HOUR, reason: 'paused' } as const;
    expect(health(runs, { entry }, [paused])).toMatchObject({ state: 'healthy' });
  });

  it('late while a run of its schedule has not begun within its grace', () => {
    const due = NOW - 2 * ENTRY.definition.graceMs;
    expect(health([waits(due)])).toMatchObject({ state: 'late', since: due });
    expect(health([waits(NOW - 1_000)])).toMatchObject({ state: 'healthy' });
    expect(health([waits(due, { attempt: 1 })])).toMatchObject({ state: 'healthy' });
  });

  it.each(['manual', 'backfill'] as const)('never late for a run of the kind %s', (reason) => {
    expect(health([waits(NOW - 9 * HOUR, { reason })])).toMatchObject({ state: 'healthy' });
    expect(historyOf([ran(NOW - HOUR, { reason, startedAt: NOW })], [], 0)).toMatchObject({
      marks: [{ asked: reason, lateByMs: null }],
      startDelayP95Ms: null,
    });
  });

  it('late while a run has not ended as soon as is expected', () => {
    const running = ran(NOW - HOUR, { state: 'running', finishedAt: null });
    expect(health([running])).toMatchObject({ state: 'healthy' });
    expect(health([running], { entry: defined({ lateAfterMs: HOUR / 2 }) })).toMatchObject({ state: 'late' });
  });

  it('without a worker, however late that makes it', () => {
    const run = waits(NOW - HOUR, { waiting: 'no-capable-worker' });
    expect(health([run])).toMatchObject({ state: 'no-worker', since: NOW - HOUR });
  });

  it('without a worker while its instants are skipped because of that, until a run begins', () => {
    const skipped = every(3, (at) => runAt(at, { state: 'skipped', skipped: 'no-capable-worker', finishedAt: at }));
    expect(health(skipped)).toMatchObject({ state: 'no-worker', since: NOW - 3 * HOUR });
    expect(health([ran(NOW - 4 * HOUR), ...skipped])).toMatchObject({ state: 'no-worker', since: NOW - 3 * HOUR });
    const begun = ran(NOW - 4 * HOUR, { startedAt: NOW - 60_000, finishedAt: NOW });
    expect(health([begun, ...skipped], { entry: defined({ graceMs: 9 * HOUR }) })).toMatchObject({ state: 'healthy' });
  });

  it('never succeeded when all its instants were skipped or cancelled', () => {
    const skipped = every(3, (at) => runAt(at, { state: 'skipped', skipped: 'overlap', finishedAt: null }));
    expect(health(skipped)).toMatchObject({ state: 'never-succeeded', since: NOW - 3 * HOUR });
    expect(health([...skipped, ran(NOW - 9 * HOUR)])).toMatchObject({ state: 'healthy' });
    expect(health([waits(NOW - 1_000)])).toMatchObject({ state: 'healthy' });
    const paused = [{ after: START, through: NOW, reason: 'paused' }] as const;
    expect(health([], {}, paused)).toMatchObject({ state: 'healthy' });
  });

  it('paused, with what was wrong before', () => {
    const record = { paused: PAUSE };
    expect(health([], { record, nextDueAt: NOW - HOUR })).toMatchObject({
      state: 'paused',
      since: PAUSE.since,
      text: 'paused',
    });
    expect(health(every(6, failed), { record })).toMatchObject({
      state: 'paused',
      failures: 6,
      text: 'paused; was failing (6 in a row)',
    });
  });

  it.each(['disabled', 'removed'] as const)('%s, whatever it did before', (state) => {
    const entry = entryOf(generationsOf({ since: START, state }));
    expect(health(every(3, failed), { entry, nextDueAt: NOW - HOUR })).toMatchObject({ state, since: START });
  });

  it('unknown until its history is read, but for what is known without', () => {
    const history = null;
    expect(health([], { history })).toMatchObject({ state: 'unknown', since: null, failures: null });
    expect(health([], { history, nextDueAt: NOW - HOUR })).toMatchObject({ state: 'missed', failures: null });
    expect(health([], { history, record: { paused: PAUSE } })).toMatchObject({ state: 'paused', failures: null });
  });
});

describe('a history', () => {
  it('has the newest thirty runs and skips, the oldest first', () => {
    const runs = every(40, ran);
    const skip = { after: NOW - HOUR, through: NOW - HOUR / 2, reason: 'paused' } as const;
    const { marks } = historyOf(runs, [skip], 0);
    expect(marks).toHaveLength(30);
    expect(marks[0]?.at).toBe(NOW - 29 * HOUR);
    expect(marks.at(-1)).toMatchObject({ at: NOW - HOUR / 2, outcome: 'skipped', runId: null, reason: 'paused' });
  });

  it('has percentiles of what succeeded, and of how late the schedule was', () => {
    const runs = Array.from({ length: 20 }, (_, n) => {
      const at = NOW - (n + 1) * HOUR;
      return ran(at, { startedAt: at + n, finishedAt: at + n + 100 * (n + 1) });
    });
    const slow = failed(NOW - 30 * HOUR, { finishedAt: NOW });
    const { duration, startDelayP95Ms } = historyOf([...runs, slow], [], HOUR);
    expect(duration).toEqual({ p50Ms: 1_000, p95Ms: 1_900 });
    expect(startDelayP95Ms).toBe(18);
    expect(historyOf([slow], [], HOUR).duration).toBeNull();
  });
});
