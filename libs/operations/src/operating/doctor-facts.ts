import type { ServerFacts } from '@fencepost/lease/internal/redis-checks';
import type { CatalogEntry, UnreadableRecord } from '@fencepost/ledger/catalog';
import type { Run } from '@fencepost/ledger/run';
import type { PostgresFacts } from '@fencepost/ledger/postgres';
import type { JournalEntry } from '../journal/journal.js';
import type { LiveProcess, PodCard, QueueLimits } from '@fencepost/jobs/internal';
import type { LiveDeclarations } from './live-revisions.js';
import type { LostDefinitions } from './lost-definitions.js';
import type { CronOverview } from './cron-overview.js';

/** How much it matters. `bad`: something does not work, or is not safe. `warn`: it will not, or may not be. */
export type DoctorFindingLevel = 'ok' | 'note' | 'warn' | 'bad';

/** One thing that was found: what it is about, what was found, and what to do. */
export interface DoctorFinding {
  readonly code: string;
  readonly level: DoctorFindingLevel;
  readonly subject: string;
  /** A sentence or two. */
  readonly text: string;
  /** `null`: nothing. */
  readonly todo: string | null;
}

/** Another history was found at a server than at the examination before. */
export interface HistoryChange {
  readonly address: string;
  readonly code: string;
  readonly text: string;
  /** When it was noticed, epoch milliseconds of the store. */
  readonly at: number;
}

/** A cron whose next instant was due a while ago, as its holder has announced it. */
export interface LateCron {
  readonly cron: string;
  readonly overdueMs: number;
}

export interface RedisFacts {
  /** One of a single server, one of each primary of a cluster. */
  readonly servers: readonly ServerFacts[];
  readonly changes: readonly HistoryChange[];
  /** At most 1,000, the longest overdue first. */
  readonly late: readonly LateCron[];
  /** What people have set on the queues of runs. */
  readonly queues: readonly QueueLimits[];
}

/** The newest runs of crons whose last one did not end well. */
export interface CronOutcomes {
  /** Of each the newest first, at most 20. */
  readonly looked: readonly { readonly cron: string; readonly runs: readonly Run[] }[];
  /** How many more such crons there are: only so many are looked at. */
  readonly left: number;
}

/** Everything the judgement goes by. Instants are epoch milliseconds. */
export interface DoctorFacts {
  /** The store's clock. */
  readonly now: number;
  /** Where whoever examines looks for runs. */
  readonly ledger: string;
  /** Empty where it could not be read, see `unread`. */
  readonly pods: readonly PodCard[];
  /** Which of them declare what; `null`: the pods are unknown, and `pods` is empty. */
  readonly live: LiveDeclarations | null;
  /** Live processes that have reported nothing; `null`: unknown, so that the absence of a report proves nothing. */
  readonly unreported: readonly LiveProcess[] | null;
  /** When any scheduler pod was heard, `null` for never. */
  readonly lastHeard: number | null;
  /** When the catalog was made, `null` where nobody noted it. */
  readonly bornAt: number | null;
  readonly entries: readonly CatalogEntry[];
  /** Records of the catalog that cannot be read. */
  readonly unreadable: readonly UnreadableRecord[];
  /** Those that may need a person; most are well, and left out. */
  readonly crons: readonly CronOverview[];
  readonly outcomes: CronOutcomes;
  /** At most 1,000, the latest first. */
  readonly uncertain: readonly Run[];
  /** What happened lately, the newest first. */
  readonly happened: readonly JournalEntry[];
  /** `null`: could not be asked, see `unread`. */
  readonly redis: RedisFacts | null;
  /** `null`: the ledger is not there, or could not be asked. */
  readonly postgres: PostgresFacts | null;
  /** Crons that the ledger knows and the catalog does not define. */
  readonly lost: LostDefinitions;
  /** What could not be asked, and why. */
  readonly unread: readonly { readonly what: string; readonly error: string }[];
}

export type DoctorRule = (facts: DoctorFacts) => readonly DoctorFinding[];
