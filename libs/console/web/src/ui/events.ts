import type { JournalEntry } from '../data/types.js';

/** Events in which the fence did its work: somebody stale was refused, or was late and is only noted. */
const REFUSALS: ReadonlySet<string> = new Set([
  'claim.stale',
  'claim.outdated',
  'attempt.refused',
  'effect.late',
  'lease.evicted',
]);

const TEXT: Readonly<Record<string, string>> = {
  'lease.acquired': 'took the cron over',
  'lease.released': 'gave the cron up',
  'lease.lost': 'lost the cron and stopped acting for it',
  'lease.evicted': 'ended the term of a holder that seems dead',
  'claim.stale': 'claim refused: another pod has a larger fence',
  'claim.outdated': 'claim refused: its definition is older than the accepted one',
  'occurrence.claimed': 'accepted the occurrence',
  'occurrence.skipped': 'skipped the occurrence',
  'occurrence.passed': 'instants went by and will not run',
  'run.redelivered': 'handed the run to the queue again',
  'attempt.begun': 'began an attempt',
  'attempt.succeeded': 'the run succeeded',
  'attempt.failed': 'the attempt failed',
  'attempt.aborted': 'the attempt may not go on',
  'attempt.refused': 'write refused: a later attempt has a larger fence',
  'attempt.cancelled': 'stopped, because the run was cancelled',
  'attempt.uncertain': 'nobody knows whether an effect happened',
  'attempt.unhandled': 'has no handler for this cron',
  'effect.late': 'reported an effect too late; kept as a fact',
  'effect.failed': 'an effect has not happened',
  'effect.unknown': 'nobody knows whether an effect happened',
};

export function isRefusal({ event }: JournalEntry): boolean {
  return REFUSALS.has(event);
}

export function hasFence({ detail }: JournalEntry): boolean {
  return 'fence' in detail;
}

export function eventText({ event }: JournalEntry): string {
  return TEXT[event] ?? event;
}

/** What else an event carries: names and plain values. */
export function detailText({ detail }: JournalEntry, without: readonly string[] = []): string {
  const shown = Object.entries(detail).filter(([key, value]) => !without.includes(key) && value !== null);
  return shown.map(([key, value]) => `${key} ${plain(value)}`).join(', ');
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A fence as text, wherever the event has one. */
export function fenceIn({ detail }: JournalEntry, key: 'fence' | 'accepted'): string | null {
  const value = detail[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
