import { scrubText } from '@fencepost/lease/internal';
import type { Run } from '@fencepost/ledger/run';
import type { CronOverview } from './cron-overview.js';
import type { DoctorFacts, DoctorFinding, DoctorRule } from './doctor-facts.js';
import { MAX_MARKS } from './cron-history.js';
import { counted, found, listed, took } from './doctor-words.js';
import { standstillsOf } from '../alarms/standstills.js';
import { inARow } from './health-of.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** From here on it is no hiccup. */
const MANY_FAILURES = 3;
/** As long as a run may be late by default before anything is said of it. */
const LATE_MS = 60_000;

/** What the newest runs of the crons say: how they ended, whether they began, and whether anybody heard of it. */
export const OUTCOME_RULES: readonly DoctorRule[] = [
  failing,
  neverSucceeded,
  lateRuns,
  droppedNotifications,
  notLookedAt,
];

/** Crons whose newest runs are worth a look: whatever ended well is fine. */
export function unsound(crons: readonly CronOverview[]): CronOverview[] {
  return crons.filter(({ state, last }) => state === 'active' && last !== null && last.state !== 'succeeded');
}

/** Runs that ended, the newest first: what was skipped, cancelled or goes on says nothing of success. */
function ends(runs: readonly Run[]): Run[] {
  return runs.filter(({ state }) => state === 'succeeded' || state === 'failed');
}

/** An error may have a stack, and one that an earlier release recorded may quote more than it should. */
function brief(error: string | null): string {
  return scrubText((error ?? 'no error is recorded').split('\n')[0] ?? '').slice(0, 200);
}

function failuresOf(runs: readonly Run[]): number {
  const ended = ends(runs);
  const success = ended.findIndex(({ state }) => state === 'succeeded');
  return success === -1 ? ended.length : success;
}

/** As many as are read, and no success among them: older ones may have failed, too. */
function isOpen(runs: readonly Run[]): boolean {
  return runs.length >= MAX_MARKS && !runs.some(({ state }) => state === 'succeeded');
}

function failing({ outcomes }: DoctorFacts): DoctorFinding[] {
  const failed = outcomes.looked
    .map(({ cron, runs }) => ({ cron, run: ends(runs)[0], failures: failuresOf(runs), isOpen: isOpen(runs) }))
    .filter(({ failures }) => failures > 0)
    .toSorted((a, b) => b.failures - a.failures);
  const [worst] = failed;
  if (!worst?.run) return [];
  const shown = listed(failed.map(({ cron, failures, isOpen: open }) => `${cron} (${inARow(failures, open)})`));
  const text = `${counted(failed.length, 'cron fails', 'crons fail')}: ${shown}. The newest of ${worst.cron}: ${brief(worst.run.error)}.`;
  const todo = `fencepost run ${worst.run.id} shows what happened; after the fix: fencepost retry ${worst.run.id} --reason <words>.`;
  const subject = listed(failed.map(({ cron }) => cron));
  return [found(worst.failures >= MANY_FAILURES ? 'bad' : 'warn', { code: 'FAILING', subject, text, todo })];
}

/** Neither well nor badly: its runs are skipped, or never end. One that fails is another finding. */
function neverSucceeded({ outcomes, now, pods }: DoctorFacts): DoctorFinding[] {
  const known = standstillsOf(pods);
  const silent = outcomes.looked.filter(({ cron, runs }) => {
    const oldest = runs.at(-1);
    return !known.has(cron) && ends(runs).length === 0 && oldest !== undefined && now - oldest.dueAt > HOUR_MS;
  });
  const [first] = silent;
  if (!first) return [];
  const names = listed(silent.map(({ cron }) => cron));
  const text = `None of the newest runs of ${names} has ended: they were skipped or cancelled, or are waiting.`;
  const todo = `fencepost runs ${first.cron} lists them, and fencepost why ${first.cron} <time> says why one did not run.`;
  return [found('warn', { code: 'NEVER_SUCCEEDED', subject: names, text, todo })];
}

function lateRuns({ outcomes, now }: DoctorFacts): DoctorFinding[] {
  const late = outcomes.looked.flatMap(({ cron, runs }) => {
    const waiting = runs.filter(
      ({ state, attempt, dueAt, reason, waiting: why }) =>
        (state === 'claimed' || state === 'enqueued') &&
        attempt === 0 &&
        why === null &&
        (reason === 'schedule' || reason === 'catch-up') &&
        now - dueAt > LATE_MS,
    );
    const oldest = waiting.at(-1);
    return oldest ? [{ cron, lateMs: now - oldest.dueAt }] : [];
  });
  if (late.length === 0) return [];
  const names = listed(late.map(({ cron }) => cron));
  const worst = Math.max(...late.map(({ lateMs }) => lateMs));
  const text = `${counted(late.length, 'cron has a run', 'crons have runs')} that no worker has begun: ${names}, for up to ${took(worst)}.`;
  const todo = 'Start more workers, or give them more concurrency: "fencepost pods" shows the running count of each.';
  return [found('warn', { code: 'RUNS_LATE', subject: names, text, todo })];
}

function droppedNotifications({ crons, now }: DoctorFacts): DoctorFinding[] {
  const dropped = crons.filter(({ droppedNotifications: lost }) => lost !== null && now - lost.lastAt < DAY_MS);
  if (dropped.length === 0) return [];
  const names = listed(dropped.map(({ name }) => name));
  const count = dropped.reduce((sum, cron) => sum + (cron.droppedNotifications?.count ?? 0), 0);
  const text = `${counted(count, 'notification')} of how runs of ${names} ended ${count === 1 ? 'was' : 'were'} dropped, the latest within a day: too many waited to be sent.`;
  const todo = 'Check the message queue: the log has operation "notification.enqueue" where it fails.';
  return [found('warn', { code: 'NOTIFICATIONS_DROPPED', subject: names, text, todo })];
}

function notLookedAt({ outcomes }: DoctorFacts): DoctorFinding[] {
  if (outcomes.left === 0) return [];
  const text = `The newest runs of ${counted(outcomes.left, 'more cron')} did not succeed and were not examined: the number of crons per check is limited.`;
  const todo = '"fencepost failed" lists failed runs of all crons.';
  return [found('note', { code: 'NOT_ALL_LOOKED_AT', subject: 'crons', text, todo })];
}
