import type { JournalEntry } from '../data/types.js';

/** Events in which the fence did its work: somebody stale was refused, or was late and is only noted. */
const REFUSALS: ReadonlySet<string> = new Set([
  'claim.stale',
  'claim.outdated',
  'attempt.refused',
  'effect.late',
  'lease.preempted',
]);

const TEXT: Readonly<Record<string, string>> = {
  'lease.acquired': 'lease acquired',
  'lease.released': 'lease released',
  'lease.lost': 'lease lost',
  'lease.preempted': 'lease of a suspected holder preempted',
  'claim.stale': 'claim refused: the ledger has accepted a larger fence',
  'claim.outdated': 'claim refused: the ledger has accepted a newer definition',
  'occurrence.claimed': 'occurrence claimed',
  'occurrence.skipped': 'occurrence skipped',
  'occurrence.passed': 'instants skipped; no run was claimed for them',
  'run.redelivered': 'run enqueued again',
  'attempt.begun': 'attempt started',
  'attempt.succeeded': 'run succeeded',
  'attempt.failed': 'attempt failed',
  'attempt.aborted': 'attempt aborted',
  'attempt.refused': 'write refused: the attempt is stale',
  'attempt.cancelled': 'attempt stopped: its run was cancelled',
  'attempt.uncertain': 'outcome of an effect is unknown',
  'attempt.unhandled': 'no handler for this cron',
  'effect.late': 'effect recorded as done after its attempt was over',
  'effect.failed': 'effect failed and did not happen',
  'effect.unknown': 'outcome of an effect is unknown',
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
