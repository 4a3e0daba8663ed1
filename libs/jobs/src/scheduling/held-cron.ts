import type { Lease } from '@fencepost/lease';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { GenerationRange } from '../schedules/schedules.js';

/**
 * A held cron: this pod claims its occurrences under `lease.fence`.
 *
 * A pod may hold a hundred thousand: a flat record with all fields set from the start, and no closures.
 */
export interface HeldCron {
  /** The entry in the catalog; replaced when it changes. */
  entry: CatalogEntry;
  readonly lease: Lease;
  /** The last known cursor; `null` for a cron that never had an occurrence. */
  cursor: number | null;
  /** Whether the cursor and the pending runs have been read in this term, and since then no call has failed and nobody has moved the cursor. */
  known: boolean;
  /** Failed calls in a row. */
  failures: number;
  /**
   * How far the clock of this pod is ahead of the store's, as shown by the last claim refused as early; 0 if none was.
   *
   * Without it, a pod that is ahead by more than a period would always claim future instants.
   */
  aheadMs: number;
  /** Lost or given up: nothing is claimed for it any more, by calls in progress neither. */
  over: boolean;
  /** Whether the other pods may know a due time of it. One that a former holder left shows once it is overdue. */
  published: boolean;
  /** Cache of `newestRange`: the newest generation of `entry`. */
  newest: GenerationRange | null;
}

/** What is in the way of a cron, as far as a claim or a heartbeat shows. */
export type Obstacle = 'blocked' | 'paused' | 'fails' | 'unclaimed';

export function holdCron(entry: CatalogEntry, lease: Lease): HeldCron {
  return {
    entry,
    lease,
    cursor: null,
    known: false,
    failures: 0,
    aheadMs: 0,
    over: false,
    published: false,
    newest: null,
  };
}
