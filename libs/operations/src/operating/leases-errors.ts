import { FencepostError, formatFence, type Fence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';

/** The lease is not the one that was looked at any more, so it was left alone. */
export class LeaseMovedError extends FencepostError {
  readonly code = 'LEASE_MOVED';

  /** @param found who holds it now, `null` for nobody */
  constructor(
    readonly cron: string,
    readonly expected: Fence,
    readonly found: Holding | null,
  ) {
    const now = found ? `${ownerPrefix(found.holder)} with fence ${formatFence(found.fence)}` : 'nobody';
    super(
      `The lease of "${cron}" no longer has fence ${formatFence(expected)}; ${now} holds it. Nothing was ` +
        `cleared. Check "fencepost leases --cron ${cron}", then repeat the command.`,
    );
  }
}
