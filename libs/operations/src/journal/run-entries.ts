import type { Journal, JournalEntry } from './journal.js';

export interface JournalLists {
  /** What was notable of the run's cron: kept for long, but without what each healthy attempt says. */
  readonly notable: readonly JournalEntry[];
  /** What was written last, of all crons. */
  readonly latest: readonly JournalEntry[];
}

/** The journal of a cron keeps so many entries. */
const MAX_PER_CRON = 200;
/** Of all crons: as many as are read at once. */
const MAX_OVERALL = 1_000;

/** What the journal still has of one run, the newest first. */
export async function journalOfRun(
  journal: Pick<Journal, 'ofCron' | 'latest'>,
  { id, cron }: { readonly id: string; readonly cron: string },
): Promise<JournalEntry[]> {
  const [notable, latest] = await Promise.all([
    journal.ofCron(cron, { limit: MAX_PER_CRON }),
    journal.latest({ limit: MAX_OVERALL }),
  ]);
  return runEntries(id, { notable, latest });
}

/** Each list has ids of its own, so what is in both is told by the rest. */
export function runEntries(runId: string, { notable, latest }: JournalLists): JournalEntry[] {
  const found = new Map<string, JournalEntry>();
  for (const entry of [...notable, ...latest]) {
    if (entry.runId === runId) found.set(JSON.stringify([entry.at, entry.pod, entry.event, entry.detail]), entry);
  }
  return [...found.values()].toSorted((a, b) => b.at - a.at);
}
