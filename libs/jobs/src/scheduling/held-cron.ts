import type { Lease } from '@fencepost/lease';
import type { CatalogEntry } from '../catalog/definition.js';
import type { Schedule } from '../schedule/schedule.js';

/** A cron this pod acts for: while it is held, the pod claims its occurrences under `lease.fence`. */
export interface HeldCron {
  readonly entry: CatalogEntry;
  readonly schedule: Schedule;
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

/** From where on instants count: nothing before this generation of the definition is missed. */
export function accountedUntil(held: HeldCron): number {
  return Math.max(held.cursor ?? 0, held.entry.since);
}
