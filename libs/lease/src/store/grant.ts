import type { Fence } from '../base/fence.js';

/** One uninterrupted holding of a resource. The nonce is fresh per acquisition, so it names the term and not the pod. */
export interface Term {
  readonly resource: string;
  readonly nonce: string;
}

export interface AcquireRequest extends Term {
  readonly holder: string;
  readonly ttlMs: number;
  /** The highest fence known to have been accepted for this resource; the new one is larger even if the store forgot. */
  readonly floor: Fence;
  /** How many holders the resource may have at once, in the store of a semaphore; a lease has one. */
  readonly places?: number | undefined;
  /** The caller asks again with this nonce until it is acquired or released, for a store that `servesInOrder`. */
  readonly waits?: boolean | undefined;
}

/** "Not acquired" is a value: it says how long the holder has left. */
export type AcquireReply =
  { readonly acquired: true; readonly fence: Fence } | { readonly acquired: false; readonly remainingMs: number };

/** A granted lease: the right to act for one resource, for a bounded time. A value; a `Lease` renews it. */
export interface Grant extends Term {
  /** A random identity per process, with a readable label in front. */
  readonly holder: string;
  readonly fence: Fence;
  readonly ttlMs: number;
  /** Monotonic milliseconds of the holder's clock: from here on the holder must stop, without asking the store. */
  readonly trustedUntil: number;
}

/**
 * Until when a holder may trust a lease it asked for at `sentAt`.
 *
 * Counted from when the request was *sent*: the store's countdown began somewhere between sending and receiving, and only
 * the earlier end is safe. 1 % + 2 ms is the drift allowance of Redis' distributed-lock page.
 */
export function trustedUntil(sentAt: number, ttlMs: number): number {
  return sentAt + ttlMs - ttlMs / 100 - 2;
}

/** Whether a holder has to stop: less than a sixth of the TTL is left, too little to finish a write it starts now. */
export function mustStop(grant: Grant, monotonicNow: number): boolean {
  return stopAt(grant) <= monotonicNow;
}

/** The monotonic instant at which {@link mustStop} becomes true. */
export function stopAt(grant: Pick<Grant, 'trustedUntil' | 'ttlMs'>): number {
  return grant.trustedUntil - grant.ttlMs / 6;
}

/** The same term after a renewal that was sent at `sentAt`. */
export function renewed(grant: Grant, sentAt: number): Grant {
  return { ...grant, trustedUntil: trustedUntil(sentAt, grant.ttlMs) };
}
