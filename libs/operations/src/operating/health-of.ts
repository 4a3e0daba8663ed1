import type { CronRecord } from '@fencepost/ledger';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { hasSucceeded, MAX_MARKS, type CronHistory, type CronMark } from './cron-history.js';
import type { Standstill } from '../alarms/standstills.js';

/** How a cron is, the worst first: a list that is sorted by it begins with what needs a person. */
export const HEALTH_STATES = [
  ...(['uncertain', 'standstill', 'failing', 'missed', 'late', 'no-worker', 'never-succeeded'] as const),
  ...(['unknown', 'paused', 'disabled', 'removed', 'healthy'] as const),
] as const;

export type HealthState = (typeof HEALTH_STATES)[number];

/** How a cron is, and since when. Instants are epoch milliseconds. */
export interface CronHealth {
  readonly state: HealthState;
  /** `null`: not known. */
  readonly since: number | null;
  /** How many of its newest runs have failed in a row; `null`: not known. */
  readonly failures: number | null;
  /** A few words. */
  readonly text: string;
}

/** What the health of a cron is judged by. */
export interface HealthFacts {
  readonly entry: Pick<CatalogEntry, 'definition' | 'state' | 'since'>;
  readonly record: Pick<CronRecord, 'paused'>;
  /** When the first instant that nobody has accounted for was, or will be, due; `null` for none. */
  readonly nextDueAt: number | null;
  /** Its uncertain runs, however old. */
  readonly uncertain: { readonly count: number; readonly since: number | null };
  /** As a pod has reported it; default `null`. */
  readonly standstill?: Standstill | null;
  /** `null`: not read yet. */
  readonly history: CronHistory | null;
  /** The store's clock. */
  readonly now: number;
}

/** What is read is a moment old: whatever is less overdue than this may have been claimed meanwhile. */
const MIN_OVERDUE_MS = 10_000;

type Finding = Pick<CronHealth, 'state' | 'since' | 'text'>;

/** Judges by facts alone; asks nobody. */
export function healthOf(facts: HealthFacts): CronHealth {
  const streak = facts.history && failuresIn(facts.history.marks);
  const found = uncertain(facts) ?? atRest(facts, streak) ?? unwell(facts, streak);
  return { ...found, failures: streak && streak.count };
}

/** Nobody waits for it: what it did before is mentioned, and no more. */
function atRest({ entry, record }: HealthFacts, streak: Streak | null): Finding | null {
  if (entry.state !== 'active') return { state: entry.state, since: entry.since, text: entry.state };
  if (!record.paused) return null;
  const text = streak?.count ? `paused; was ${inWords(streak)}` : 'paused';
  return { state: 'paused', since: record.paused.since, text };
}

function unwell(facts: HealthFacts, streak: Streak | null): Finding {
  const { standstill = null } = facts;
  if (standstill) return { state: 'standstill', since: standstill.since, text: STANDS_STILL[standstill.cause] };
  const { history } = facts;
  if (!history || !streak) {
    return missedInstant(facts) ?? { state: 'unknown', since: null, text: 'history not read yet' };
  }
  if (streak.count > 0) return { state: 'failing', since: streak.since, text: inWords(streak) };
  const found = missedInstant(facts) ?? misfired(history) ?? overdueSuccess(facts, history);
  return (
    found ?? late(facts, history) ?? noWorker(history) ?? neverSucceeded(history) ?? healthy(facts, history, streak)
  );
}

function uncertain({ uncertain: { count, since } }: HealthFacts): Finding | null {
  if (count === 0) return null;
  return { state: 'uncertain', since, text: count === 1 ? 'uncertain' : `uncertain (${count} runs)` };
}

const STANDS_STILL: Readonly<Record<Standstill['cause'], string>> = {
  'handler-hangs': 'stands still (its handler hangs)',
  'lease-store-down': 'stands still (lease store down)',
  'store-clock-back': "stands still (store's clock went back)",
  'ledger-fails': 'stands still (claims fail)',
  'no-worker': 'stands still (no worker)',
  'queue-paused': 'stands still (queue paused)',
  'workers-busy': 'stands still (no worker begins its run)',
  unclaimed: 'stands still (not claimed)',
  paused: 'paused',
};

interface Streak {
  readonly count: number;
  /** When the first of them ended. */
  readonly since: number | null;
  /** Nothing is known from before it. */
  readonly isOpen: boolean;
  /** When the first success ended that came after the newest failure; `null` without one. */
  readonly brokenAt: number | null;
}

/** By when they ended: a retry that succeeds ends a failure. */
function failuresIn(marks: readonly CronMark[]): Streak {
  const ended = marks
    .filter((mark) => mark.endedAt !== null && (mark.outcome === 'failed' || hasSucceeded(mark)))
    .toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  const success = ended.findIndex(hasSucceeded);
  const count = success === -1 ? ended.length : success;
  const failure = ended.findIndex(({ outcome }) => outcome === 'failed');
  return {
    count,
    since: ended[count - 1]?.endedAt ?? null,
    isOpen: success === -1 && marks.length === MAX_MARKS,
    brokenAt: failure > 0 ? (ended[failure - 1]?.endedAt ?? null) : null,
  };
}

function inWords({ count, isOpen }: Streak): string {
  return count === 1 && !isOpen ? 'failing' : `failing (${inARow(count, isOpen)})`;
}

/** @param isOpen nothing is known from before: there may be more */
export function inARow(count: number, isOpen: boolean): string {
  return `${count}${isOpen ? ' or more' : ''} in a row`;
}

/** The first instant that nobody has accounted for is long past. */
function missedInstant({ entry: { definition }, nextDueAt, now }: HealthFacts): Finding | null {
  const { graceMs, lateAfterMs = Infinity } = definition;
  if (nextDueAt === null) return null;
  const byMs = now - nextDueAt;
  if (byMs <= Math.max(MIN_OVERDUE_MS, Math.min(graceMs, lateAfterMs))) return null;
  return { state: 'missed', since: nextDueAt, text: 'missed' };
}

/** The newest instant of its schedule was written off because nobody came in time. */
function misfired({ marks }: CronHistory): Finding | null {
  const newest = marks.findLast(isScheduled);
  if (newest?.reason !== 'misfire') return null;
  return { state: 'missed', since: newest.dueAt, text: 'missed (skipped as misfire)' };
}

/** It is expected to succeed every so often, and has not; time in which it was paused does not count. */
function overdueSuccess({ entry, now }: HealthFacts, { marks }: CronHistory): Finding | null {
  const { expectEveryMs } = entry.definition;
  if (expectEveryMs === undefined) return null;
  const paused = marks.filter(({ reason }) => reason === 'paused').map(({ at }) => at);
  const succeeded = marks.filter(hasSucceeded).map(({ endedAt }) => endedAt ?? 0);
  const since = Math.max(entry.since, ...paused, ...succeeded);
  if (now - since <= expectEveryMs) return null;
  return { state: 'missed', since: since + expectEveryMs, text: 'missed (no success in time)' };
}

/** A run that the schedule asked for has not begun in time, or has not ended in time. */
function late({ entry: { definition }, now }: HealthFacts, { marks }: CronHistory): Finding | null {
  const { graceMs, lateAfterMs = Infinity } = definition;
  const overdue = (mark: CronMark) => {
    const byMs = now - mark.dueAt;
    if (!isScheduled(mark) || mark.reason === 'no-capable-worker') return false;
    const isWaiting = mark.outcome === 'waiting' && mark.reason !== 'retry';
    const isOpen = mark.outcome === 'waiting' || mark.outcome === 'running';
    return (isWaiting && byMs > Math.max(MIN_OVERDUE_MS, graceMs)) || (isOpen && byMs > lateAfterMs);
  };
  const oldest = marks.find(overdue);
  return oldest ? { state: 'late', since: oldest.dueAt, text: 'late' } : null;
}

function noWorker({ marks }: CronHistory): Finding | null {
  const waiting = marks.find(({ outcome, reason }) => outcome === 'waiting' && reason === 'no-capable-worker');
  const since = waiting?.dueAt ?? skippedSince(marks);
  return since === null ? null : { state: 'no-worker', since, text: 'no worker' };
}

/** Since when its newest instants were skipped because a run waits that is older than all marks; `null`: it has begun. */
function skippedSince(marks: readonly CronMark[]): number | null {
  const scheduled = marks.filter(isScheduled);
  const skipped = scheduled.slice(scheduled.findLastIndex(({ reason }) => reason !== 'no-capable-worker') + 1);
  const [first, last] = [skipped[0], skipped.at(-1)];
  if (!first || !last) return null;
  const hasBegun = ({ outcome, endedAt }: CronMark) =>
    outcome === 'running' || (outcome !== 'skipped' && endedAt !== null && endedAt > last.dueAt);
  return marks.some(hasBegun) ? null : first.dueAt;
}

/** Instants have come, and each was skipped or cancelled. */
function neverSucceeded({ marks }: CronHistory): Finding | null {
  const over = marks.filter(
    (mark) => isScheduled(mark) && mark.reason !== 'paused' && ['skipped', 'cancelled'].includes(mark.outcome),
  );
  const [first] = over;
  if (!first || marks.some(hasSucceeded)) return null;
  const text = marks.length < MAX_MARKS ? 'never succeeded' : `none of the last ${MAX_MARKS} succeeded`;
  return { state: 'never-succeeded', since: first.dueAt, text };
}

function healthy({ entry }: HealthFacts, { marks }: CronHistory, { brokenAt }: Streak): Finding {
  const ends = [
    brokenAt ?? [],
    ...marks.filter(isScheduled).map((mark, n, all) => endOf(mark, all[n + 1], entry)),
  ].flat();
  const since = ends.length === 0 ? null : Math.max(...ends);
  return { state: 'healthy', since, text: marks.length === 0 ? 'no runs yet' : 'healthy' };
}

/** When the trouble ended that an instant of the schedule was in; nothing for none, and for a failure, which a success ends. */
function endOf(mark: CronMark, next: CronMark | undefined, { definition }: HealthFacts['entry']): number[] {
  const { dueAt, endedAt, lateByMs, reason } = mark;
  const { graceMs, lateAfterMs = Infinity } = definition;
  if (reason === 'misfire') return next ? [next.dueAt] : [];
  if (endedAt !== null && endedAt - dueAt > lateAfterMs) return [endedAt];
  return lateByMs !== null && lateByMs > Math.max(MIN_OVERDUE_MS, graceMs) ? [dueAt + lateByMs] : [];
}

/** A run that somebody asked for is neither late nor missed. */
function isScheduled({ asked }: CronMark): boolean {
  return asked === null;
}
