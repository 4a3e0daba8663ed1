import { formatFence, type Fence } from '@fencepost/lease';
import { ownerPrefix, scrub } from '@fencepost/lease/internal';

/** Numbers of sixteen digits, which most readers of JSON round. */
const FENCES: ReadonlySet<string> = new Set(['fence', 'accepted']);

/** Who knows all of one could be taken for it. */
const HOLDERS: ReadonlySet<string> = new Set(['holder', 'worker', 'pod']);

/** An entry has them in places of its own. */
const ELSEWHERE: ReadonlySet<string> = new Set(['cron', 'runId']);

/** Ten thousand entries are kept in a store that has better things to keep. */
const MAX_TEXT_LENGTH = 500;
const MAX_LIST_LENGTH = 20;

/** What an event carries, as the journal keeps it: as logs show it, with fences as texts, and short. */
export function journalDetail(detail: object): Readonly<Record<string, unknown>> {
  const kept = Object.entries(detail).filter(([key]) => !ELSEWHERE.has(key));
  return scrub(Object.fromEntries(kept.map(([key, value]) => [key, shown(key, value)])));
}

function shown(key: string, value: unknown): unknown {
  if (typeof value === 'number' && FENCES.has(key)) return formatFence(value as Fence);
  if (typeof value === 'string') return short(HOLDERS.has(key) ? ownerPrefix(value) : value);
  // Name and message: the stack is in the log.
  if (value instanceof Error) return short(String(value));
  if (Array.isArray(value) && value.length > MAX_LIST_LENGTH) {
    return [...value.slice(0, MAX_LIST_LENGTH), `and ${value.length - MAX_LIST_LENGTH} more`];
  }
  return value;
}

function short(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`;
}
