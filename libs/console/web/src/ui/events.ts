import type { JournalEntry } from '../data/types.js';
import { WORDS } from '../words.js';

/** Events in which the fence did its work: somebody stale was refused, or was late and is only noted. */
const REFUSALS: ReadonlySet<string> = new Set([
  'claim.stale',
  'claim.outdated',
  'attempt.refused',
  'effect.late',
  'lease.preempted',
]);

export function isRefusal({ event }: JournalEntry): boolean {
  return REFUSALS.has(event);
}

export function hasFence({ detail }: JournalEntry): boolean {
  return 'fence' in detail;
}

export function eventText({ event }: JournalEntry): string {
  return WORDS.events[event] ?? event;
}

/** Told of many crons at once; the cron that it is shown for may be one of them. */
export function isAboutMany({ cron, detail }: JournalEntry): boolean {
  return cron === null && Array.isArray(detail['crons']);
}

/** What else an event carries: names and plain values. */
export function detailText({ detail }: JournalEntry, without: readonly string[] = []): string {
  const shown = Object.entries(detail).filter(([key, value]) => !without.includes(key) && value !== null);
  return shown.map(([key, value]) => `${key} ${plain(value)}`).join(', ');
}

function plain(value: unknown): string {
  if (Array.isArray(value)) return value.map(plain).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A fence as text, wherever the event has one. */
export function fenceIn({ detail }: JournalEntry, key: 'fence' | 'accepted'): string | null {
  const value = detail[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
