import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { HeldCron } from '@fencepost/jobs/internal/scheduling';
import type { PodCard } from '@fencepost/jobs/internal';

type Standstill = NonNullable<PodCard['standstills']>[number];

/** Where the gauges of a pod come from. */
export interface MetricSources {
  readonly ledger: Pick<RunHistory, 'newestRuns' | 'runsIn' | 'newestSkips'> & Pick<OccurrenceLog, 'readCrons'>;
  /** Identity of this process. */
  readonly pod: string;
  /** The app of this process; `null`: it declares no crons. */
  readonly app: string | null;
  /** Every cron as far as this process knows. */
  catalog(): Promise<readonly CatalogEntry[]>;
  /** What this pod holds; `null` for one that is no scheduler. */
  held(): readonly HeldCron[] | null;
  /** How late the oldest cron is that this pod has not dispatched, and how many there are; `null` for one that is no scheduler. */
  behind(): { readonly lateMs: number; readonly crons: number } | null;
  /** The crons that stand still, as this pod has found. */
  standstills(): Promise<readonly Pick<Standstill, 'cron' | 'cause'>[]>;
  /** For how long the store of the leases has failed; 0 while it answers, `null` for a pod that is no scheduler. */
  leasesDownMs(): number | null;
  /** How many deliveries are in which state. */
  queueJobs(): Promise<Readonly<Record<string, number>>>;
  pods(): Promise<readonly Pick<PodCard, 'pod' | 'roles' | 'clockSkewMs' | 'app' | 'revision'>[]>;
}
