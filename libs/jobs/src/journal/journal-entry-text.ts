import type { JournalEntry, NewJournalEntry } from './journal.js';
import { instantOf } from './journal-id.js';

/** Values without their names: the names would be most of ten thousand entries. */
export function entryText({ pod, role, event, level, cron, runId, detail }: NewJournalEntry): string {
  return JSON.stringify([pod, role, event, level, cron, runId, detail]);
}

/** Nothing for what can't be read: another release may have written it, and a hint that is missing is no failure. */
export function readEntry(id: string, text: string): JournalEntry[] {
  const values = valuesOf(text);
  if (!isEntry(values)) return [];
  const [pod, role, event, level, cron, runId, detail] = values;
  return [{ id, at: instantOf(id), pod, role, event, level, cron, runId, detail }];
}

type Values = [
  ...names: [pod: string, role: string, event: NewJournalEntry['event'], level: NewJournalEntry['level']],
  ...of: [cron: string | null, runId: string | null, detail: NewJournalEntry['detail']],
];

const isName = (name: unknown) => typeof name === 'string';

function isEntry(values: unknown): values is Values {
  if (!Array.isArray(values) || values.length !== 7) return false;
  const [detail, ...names] = values.toReversed() as unknown[];
  const [runId, cron, ...always] = names;
  return (
    [runId, cron].every((name) => name === null || isName(name)) &&
    always.every(isName) &&
    typeof detail === 'object' &&
    detail !== null
  );
}

function valuesOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
