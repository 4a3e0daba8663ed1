import { scrubText } from '@fencepost/lease/internal';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { hasLateness, isTerminal, type Run } from '@fencepost/ledger/run';
import type { Alarm } from '@fencepost/jobs/internal';
import { isMeant, type Standstill } from './standstills.js';

/** What is known of a watched cron at one moment. Times are epoch milliseconds of the store. */
export interface Snapshot {
  readonly definition: CronDefinition;
  readonly now: number;
  /** From when on a success is expected: it was watched, or resumed, since then. */
  readonly countFrom: number;
  /** The newest success that is known; `null` for none. */
  readonly successAt: number | null;
  /** When the first instant that nobody has accounted for was, or will be, due; `null` for none. */
  readonly nextDueAt: number | null;
  /** The newest ones, and whatever is uncertain. */
  readonly runs: readonly Run[];
  /** As a pod has reported it. */
  readonly standstill?: Standstill | null;
}

/** Whether somebody asked for the cron to be watched. */
export function isWatched({ expectEveryMs, lateAfterMs }: CronDefinition): boolean {
  return expectEveryMs !== undefined || lateAfterMs !== undefined;
}

/** What is wrong with the cron, at most one alarm of each kind. */
export function evaluateRules(snapshot: Snapshot): Alarm[] {
  const found = [
    standstill(snapshot),
    missed(snapshot),
    late(snapshot),
    failed(snapshot),
    uncertain(snapshot),
    incapable(snapshot),
  ];
  return found.filter((alarm) => alarm !== null);
}

/** When the newest of these runs that succeeded has ended; `null` for none. */
export function newestSuccess(runs: readonly Run[]): number | null {
  const ends = runs.flatMap(({ state, finishedAt }) =>
    state === 'succeeded' && finishedAt !== null ? [finishedAt] : [],
  );
  return ends.length === 0 ? null : Math.max(...ends);
}

function standstill({ definition, standstill: reported = null }: Snapshot): Alarm | null {
  if (!reported || isMeant(reported)) return null;
  const { since, text, runId } = reported;
  return { kind: 'standstill', since, text: `${definition.name} stands still. ${text}`, runId };
}

function missed({ definition, now, countFrom, successAt, nextDueAt }: Snapshot): Alarm | null {
  const { name, expectEveryMs = Infinity, lateAfterMs = Infinity } = definition;
  if (nextDueAt !== null && now > nextDueAt + lateAfterMs) {
    const text = `${name} was due at ${iso(nextDueAt)}, and no scheduler pod has claimed it.`;
    return { kind: 'missed', since: nextDueAt, text, runId: null };
  }
  const since = Math.max(countFrom, successAt ?? -Infinity) + expectEveryMs;
  if (now <= since) return null;
  const last = successAt === null ? 'has not succeeded yet' : `last succeeded at ${iso(successAt)}`;
  const text = `${name} ${last}, but is expected to succeed every ${expectEveryMs / 1_000} s.`;
  return { kind: 'missed', since, text, runId: null };
}

function late({ definition, now, runs }: Snapshot): Alarm | null {
  const { name, lateAfterMs = Infinity } = definition;
  const open = runs.filter((run) => hasLateness(run) && !isTerminal(run.state) && run.state !== 'uncertain');
  const run = earliest(open.filter(({ dueAt }) => now > dueAt + lateAfterMs));
  if (!run) return null;
  const text = `${name}: the run ${run.id} was due at ${iso(run.dueAt)}, and is still ${run.state}.`;
  return { kind: 'late', since: run.dueAt + lateAfterMs, text, runId: run.id };
}

function failed({ definition, runs }: Snapshot): Alarm | null {
  const ended = runs.filter(
    ({ state, finishedAt }) => (state === 'succeeded' || state === 'failed') && finishedAt !== null,
  );
  const run = ended.toSorted((a, b) => (b.finishedAt ?? 0) - (a.finishedAt ?? 0))[0];
  if (run?.state !== 'failed') return null;
  // A run of an earlier release may have kept more.
  const text = `${definition.name}: the run ${run.id} failed: ${scrubText(run.error ?? 'no error was recorded')}.`;
  return { kind: 'failed', since: run.finishedAt ?? run.dueAt, text, runId: run.id };
}

function uncertain({ definition, runs }: Snapshot): Alarm | null {
  const run = earliest(runs.filter(({ state }) => state === 'uncertain'));
  if (!run) return null;
  const text = `${definition.name}: the run ${run.id} waits for an operator to resolve an effect.`;
  return {
    kind: 'uncertain',
    since: run.unresolvedEffect?.since ?? run.dueAt,
    text,
    runId: run.id,
    attempt: run.attempt,
  };
}

/** During a deploy a run may well wait a moment for the worker that brings its handler. */
function incapable({ definition, now, runs }: Snapshot): Alarm | null {
  const { name, graceMs, lateAfterMs = graceMs } = definition;
  const run = earliest(runs.filter(({ state, waiting }) => !isTerminal(state) && waiting === 'no-capable-worker'));
  if (!run || now <= run.dueAt + lateAfterMs) return null;
  const text = `${name}: the run ${run.id} waits because no live worker has a handler for it.`;
  return { kind: 'no-capable-worker', since: run.dueAt + lateAfterMs, text, runId: run.id };
}

function earliest(runs: readonly Run[]): Run | undefined {
  return runs.toSorted((a, b) => a.dueAt - b.dueAt)[0];
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
