import type { PodCard } from '@fencepost/jobs/internal';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { JournalEntry } from '../journal/journal.js';
import type { DoctorFacts } from './doctor-facts.js';
import { undeclaredOf, type Undeclared } from './live-revisions.js';

/** What the journal says is held against a deployment for this long. */
const LATELY_MS = 3_600_000;

export function lately({ happened, now }: DoctorFacts, event: string): JournalEntry[] {
  return happened.filter((entry) => entry.event === event && now - entry.at <= LATELY_MS);
}

export function workers({ pods }: Pick<DoctorFacts, 'pods'>): PodCard[] {
  return pods.filter(({ roles }) => roles.includes('worker'));
}

/** Whether a process without a report may have the role: of a worker nothing else tells. */
export function mayHaveWorker({ unreported }: DoctorFacts): boolean {
  return unreported === null || unreported.length > 0;
}

export function mayHaveScheduler({ unreported }: DoctorFacts): boolean {
  return unreported === null || unreported.some(({ isScheduler }) => isScheduler);
}

export interface UndeclaredCron extends Undeclared {
  readonly entry: CatalogEntry;
}

/** The crons that are kept although no live pod of their live app declares them. */
export function undeclaredCrons(facts: DoctorFacts): UndeclaredCron[] {
  const { live, entries } = facts;
  if (live === null || mayHaveWorker(facts)) return [];
  return entries.flatMap((entry) => {
    const about = undeclaredOf(entry, live);
    return about === null ? [] : [{ entry, ...about }];
  });
}

/** By then every live pod has reported to a registry that was lost. */
const REPORTED_WITHIN_MS = 15_000;
/** A catalog that is this much older than the registry says that the registry was lost, not that the deployment is new. */
const OLDER_MS = 60_000;

/** Whether the registry was lost a moment ago, so that live pods may be missing in it. */
export function isJustBegun({ live, bornAt }: DoctorFacts): boolean {
  if (live === null || live.pods.length === 0 || bornAt === null) return false;
  return live.now - live.bornAt < REPORTED_WITHIN_MS && live.bornAt - bornAt > OLDER_MS;
}
