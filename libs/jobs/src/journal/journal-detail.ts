import { formatFence, type Fence } from '@fencepost/lease';
import { ownerPrefix, scrub } from '@fencepost/lease/internal';

/** Numbers of sixteen digits, which most readers of JSON round. */
const FENCES: ReadonlySet<string> = new Set(['fence', 'accepted']);

/** Who knows all of one could be taken for it. */
const HOLDERS: ReadonlySet<string> = new Set(['holder', 'worker', 'pod']);

/** An entry has them in places of its own. */
const ELSEWHERE: ReadonlySet<string> = new Set(['cron', 'runId']);

/** Ten thousand entries are kept in a store that has better things to keep. */
const LONGEST_TEXT = 500;
const LONGEST_LIST = 20;

/** What an event carries, as the journal keeps it: as logs show it, with fences as texts, and short. */
export function journalDetail(detail: object): Readonly<Record<string, unknown>> {
  const kept = Object.entries(detail).filter(([key]) => !ELSEWHERE.has(key));
  return scrub(Object.fromEntries(kept.map(([key, value]) => [key, shown(key, value)])));
}

function shown(key: string, value: unknown): unknown {
  if (typeof value === 'number' && FENCES.has(key)) return formatFence(value as Fence);
  if (typeof value === 'string') return short(HOLDERS.has(key) ? ownerPrefix(value) : value);
  if (Array.isArray(value) && value.length > LONGEST_LIST) {
    return [...value.slice(0, LONGEST_LIST), `and ${value.length - LONGEST_LIST} more`];
  }
  return value;
}

function short(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}
