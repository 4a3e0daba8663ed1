/** Waiters ask every two seconds at most; one that has not asked for this long is dead. */
const WAITER_LIFE_MS = 10_000;
const MAX_WAITERS = 64;
/** How long a released lease is kept for the first waiter. */
export const RESERVED_MS = 1_000;

/** Who waits for a lease in a `MemoryLeaseStore`, in the order in which they began to; `wait-queue.lua` is the same in Redis. */
export type WaitQueue = readonly { readonly nonce: string; readonly aliveUntil: number }[];

/** With the waiter at its place, or at the end, and without the dead. */
export function entered(queue: WaitQueue, nonce: string, now: number): WaitQueue {
  const living = queue.filter((waiter) => waiter.nonce === nonce || waiter.aliveUntil > now);
  const waiter = { nonce, aliveUntil: now + WAITER_LIFE_MS };
  const isKnown = living.some((other) => other.nonce === nonce);
  if (isKnown) return living.map((other) => (other.nonce === nonce ? waiter : other));
  return living.length < MAX_WAITERS ? [...living, waiter] : living;
}
