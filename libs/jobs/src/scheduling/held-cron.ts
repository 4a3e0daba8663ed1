import type { Lease } from '@fencepost/lease';
import type { CatalogEntry } from '../catalog/definition.js';
import type { CronSchedule } from '../schedule/schedule.js';

/** A cron this pod acts for: while it is held, the pod claims its occurrences under `lease.fence`. */
export interface HeldCron {
  readonly entry: CatalogEntry;
  readonly schedule: CronSchedule;
  /** Its signal aborts when it is lost or given up. */
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
  /** Ends the holding from inside, after a refused claim. */
  drop: () => void;
}

/**
 * From where on instants count: nothing that was due before this generation of the definition is missed.
 *
 * Due, and not nominal: a deploy between an instant and the end of its spread would else make the instant vanish, since
 * the old generation may not claim it any more.
 */
export function accountedUntil({ cursor, entry, schedule }: HeldCron): number {
  return Math.max(cursor ?? 0, entry.since - schedule.spreadMs);
}
