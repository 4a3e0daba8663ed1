import { FencepostError, formatFence, type Fence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';

/** The lease is not the one that was looked at any more, so it was left alone. */
export class LeaseMovedError extends FencepostError {
  readonly code = 'LEASE_MOVED';

  /**
   * @param resource the cron, or the name of a lease of one's own
   * @param found who holds it now, `null` for nobody
   */
  constructor(
    readonly resource: string,
    readonly expected: Fence,
    readonly found: Holding | null,
  ) {
    const now = found ? `${ownerPrefix(found.holder)} with fence ${formatFence(found.fence)}` : 'nobody';
    super(
      `The lease of "${resource}" no longer has fence ${formatFence(expected)}; ${now} holds it. Nothing was ` +
        `cleared. Check "fencepost leases", then repeat the command.`,
    );
  }
}

/** What an audit record shows of a lease. */
export function shownLease(holding: Holding | null): object {
  if (!holding) return { lease: null };
  const { holder, fence, remainingMs, acquiredAt } = holding;
  const since = acquiredAt === undefined ? null : new Date(acquiredAt).toISOString();
  return { lease: { holder: ownerPrefix(holder), fence: formatFence(fence), remainingMs, heldSince: since } };
}
