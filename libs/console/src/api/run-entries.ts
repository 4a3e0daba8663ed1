import type { JournalEntry } from '@fencepost/operations/journal';

export interface JournalLists {
  /** What was notable of the run's cron: kept for long, but without what each healthy attempt says. */
  readonly notable: readonly JournalEntry[];
  /** What was written last, of all crons. */
  readonly latest: readonly JournalEntry[];
}

/** What the journal still has of one run, the newest first. Each list has ids of its own, so what is in both is told by the rest. */
export function runEntries(runId: string, { notable, latest }: JournalLists): JournalEntry[] {
  const found = new Map<string, JournalEntry>();
  for (const entry of [...notable, ...latest]) {
    if (entry.runId === runId) found.set(JSON.stringify([entry.at, entry.pod, entry.event, entry.detail]), entry);
  }
  return [...found.values()].toSorted((a, b) => b.at - a.at);
}
