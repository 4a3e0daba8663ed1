import { ownerPrefix } from '@fencepost/lease/internal';
import { z } from 'zod';
import { instant, iso, textOrNull } from './values.js';

export const journalEntrySchema = z
  .strictObject({
    id: z.string().describe('Of the store, ordered: what came later is larger.'),
    at: instant.describe('When it was recorded, by the clock of the store.'),
    pod: z.string().describe('Pod that reported it: label and the first characters of its identity.'),
    role: z.string().describe('What that pod is: scheduler, worker, or both.'),
    event: z.string().describe('Such as lease.acquired.'),
    level: z.enum(['debug', 'info', 'warn', 'error']).describe('Level.'),
    cron: textOrNull.describe('The cron it is about, where it is about one.'),
    runId: textOrNull.describe('The run it is about, where it is about one.'),
    detail: z.record(z.string(), z.unknown()).describe('Other fields of the event, without secrets.'),
  })
  .describe('An event in a pod. A hint for people; never act on it.');

export type JournalEntryJson = z.infer<typeof journalEntrySchema>;

/** What a journal has, with instants in epoch milliseconds. */
export interface JournalEntrySeen extends Omit<JournalEntryJson, 'at' | 'detail'> {
  readonly at: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

export function presentJournalEntry(entry: JournalEntrySeen): JournalEntryJson {
  const { id, at, pod, role, event, level, cron, runId, detail } = entry;
  return { id, at: iso(at), pod: ownerPrefix(pod), role, event, level, cron, runId, detail: { ...detail } };
}
