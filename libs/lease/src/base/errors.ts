import type { Fence } from './fence.js';

/** Base of all errors thrown on purpose: `code` is stable and for programs, the message is for people. */
export abstract class FencepostError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The store did not answer, or can't guarantee the request right now: retrying later may help. */
export abstract class StoreAwayError extends FencepostError {}

/** Whether retrying is pointless: the error is about the request, not about the store's health. */
export function isFinal(error: unknown): boolean {
  return error instanceof FencepostError && !(error instanceof StoreAwayError);
}

/** What the runtime throws for a bug. `fetch` throws a TypeError too when a server is away, but with a cause. */
const BUGS = [TypeError, ReferenceError, RangeError];

/** Whether the error is a programming error, which a retry would only repeat. */
export function isBug(error: unknown): boolean {
  return error instanceof Error && error.cause === undefined && BUGS.some((bug) => error instanceof bug);
}

/** Why a term ended before its holder released it. */
export type LossReason = 'refused' | 'expired' | 'clock-jump' | 'max-hold';

const LOSS: Record<LossReason, string> = {
  refused: 'the store no longer knows this term',
  expired: 'it could not be renewed in time',
  'clock-jump': 'the wall clock and the monotonic clock moved apart, so this process slept',
  'max-hold': 'it was held for as long as it may be',
};

/** The right to act is gone. Stop: a store that compares fences refuses every further write. */
export class LeaseLostError extends FencepostError {
  readonly code = 'LEASE_LOST';

  constructor(
    readonly resource: string,
    readonly reason: LossReason,
    options?: ErrorOptions,
  ) {
    super(
      `The lease on "${resource}" is lost: ${LOSS[reason]}. Stop the work it covered; acquire the lease again to go on.`,
      options,
    );
  }
}

/** Another holder had the resource for as long as the caller was willing to wait. */
export class LeaseBusyError extends FencepostError {
  readonly code = 'LEASE_BUSY';

  constructor(
    readonly resource: string,
    readonly waitedMs: number,
    readonly remainingMs: number,
  ) {
    super(
      `"${resource}" is held by another holder: waited ${Math.round(waitedMs)} ms, up to ` +
        `${Math.round(remainingMs)} ms of its term are left. Raise wait, or use tryAcquire and handle null.`,
    );
  }
}

/** The leases of this process were closed: a request that waited has ended, and a new one is refused. */
export class LeasesClosedError extends FencepostError {
  readonly code = 'LEASES_CLOSED';

  constructor() {
    super(
      'The leases of this process are closed, so none was acquired. Stop the caller before close(), or expect this error.',
    );
  }
}

/** The caller works under this lease already: waiting for it would end only with the wait. */
export class LeaseHeldError extends FencepostError {
  readonly code = 'LEASE_HELD';

  constructor(readonly resource: string) {
    super(
      `The caller holds "${resource}" already, further up in the same call, and would wait for itself. ` +
        'Use currentLease() there, or take another resource.',
    );
  }
}

/** The lease was released by its holder before it was to be extended. */
export class LeaseReleasedError extends FencepostError {
  readonly code = 'LEASE_RELEASED';

  constructor(readonly resource: string) {
    super(`The lease on "${resource}" was released, so it can't be extended. Acquire it again.`);
  }
}

/** A write carried a fence lower than the one its store has seen: a newer holder acts for this resource. */
export class StaleFenceError extends FencepostError {
  readonly code = 'STALE_FENCE';

  constructor(
    readonly resource: string,
    readonly fence: Fence,
    detail: string,
  ) {
    super(`"${resource}" refused fence ${fence}: ${detail}. Nothing was changed; stop this attempt.`);
  }
}

/** The store can issue no larger fence, which needs a server clock far in the future. */
export class FenceExhaustedError extends FencepostError {
  readonly code = 'FENCE_EXHAUSTED';

  constructor(readonly resource: string) {
    super(
      `No fence above 2^53 - 1 can be issued for "${resource}": the store's clock is, or once was, past the year 2255. ` +
        `Correct the clock and clear the resource's fence.`,
    );
  }
}

/** A mistake that must be fixed before the process can start: an option, an address, a server's setting. */
export class SetupError extends FencepostError {
  readonly code = 'SETUP';
}
