import type { Lease } from '@fencepost/lease';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { GenerationRange } from '../schedules/generation-ranges.js';

/**
 * A cron this pod acts for: while it is held, the pod claims its occurrences under `lease.fence`.
 *
 * A pod may hold a hundred thousand: a flat record, all of whose fields are there from the start, without closures.
 */
export interface HeldCron {
  /** As the catalog has it; replaced while the cron is held when the catalog has another one. */
  entry: CatalogEntry;
  readonly lease: Lease;
  /** Where the ledger's cursor was when it was last seen; `null` for a cron that never had an occurrence. */
  cursor: number | null;
  /** Whether the cursor and the pending runs have been read in this term, and nothing has failed since. */
  known: boolean;
  /** How often in a row something could not be asked. */
  failures: number;
  /**
   * How far this pod's clock runs ahead of the store's, as the last refused claim has shown; 0 as long as none was.
   *
   * Without it a pod that is ahead by more than a period would always ask for an instant of the future.
   */
  aheadMs: number;
  /** Lost, or given up: nothing is claimed for it any more, whatever is on its way. */
  over: boolean;
  /** The newest generation of `entry`, worked out at the first look: `newestRange` keeps it here. */
  newest: GenerationRange | null;
}

export function holdCron(entry: CatalogEntry, lease: Lease): HeldCron {
  return {
    entry,
    lease,
    cursor: null,
    known: false,
    failures: 0,
    aheadMs: 0,
    over: false,
    newest: null,
  };
}
