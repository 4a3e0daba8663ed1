import type { ListedHolding } from '@fencepost/lease/store';

/** Leases that are no cron's: of the application itself, places of its semaphores, roles of elections, single flights. */
export const OWN_KINDS = ['lease', 'semaphore', 'election', 'flight'] as const;
export type OwnKind = (typeof OWN_KINDS)[number];

/** One lease, or one place of a semaphore, as it was when it was looked at. */
export interface OwnLease extends ListedHolding {
  readonly kind: OwnKind;
  /** Whether its holder is a pod that reported lately, and so is alive; if not, whether it lives is unknown: other processes don't report. */
  readonly holderIsPod: boolean;
}
