import { SetupError, type LeaseStore } from '@fencepost/lease';
import type { Holding } from '@fencepost/lease/store';
import { isStoreError } from '@fencepost/jobs/internal';

/**
 * Who holds each cron; `null` for nobody, and for all of them while the store of the leases fails: everything else that is known of
 * them is shown without it, and `LEASE_STORE_DOWN` says so.
 */
export async function holdersOf(
  leases: Pick<LeaseStore, 'inspect'>,
  crons: readonly string[],
): Promise<readonly (Holding | null)[]> {
  try {
    return await leases.inspect(crons);
  } catch (error) {
    // The command line opens the store with its first question.
    if (!isStoreError(error) && !(error instanceof SetupError)) throw error;
    return crons.map(() => null);
  }
}
