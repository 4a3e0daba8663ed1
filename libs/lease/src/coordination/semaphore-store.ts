import type { Holding, LeaseStore } from '../store/lease-store.js';

/**
 * A lease store whose resources have several places: each holder has a term, a fence and an expiry of its own.
 *
 * How many there are, 1 to 1000, comes with each `acquire` (`places`, one by default), unless `resize` has set it. All
 * places of a resource share one sequence of fences. Every implementation passes
 * `test/contracts/semaphore-store.contract.ts`, and with one place the contract of a lease store.
 *
 * What differs from a lease store:
 * - `acquire` of a full resource tells how long it takes until a place is free without renewals. Where the places were
 *   made fewer than the holders, that is when enough of them have left.
 * - `inspect` shows `null` while a place is free (or was never asked for), else the holder whose end frees the next one.
 * - `evict` frees the one place whose term has this fence, and `list` shows each held place.
 * - `watchReleases` also reports a resource that got more places.
 */
export interface SemaphoreStore extends LeaseStore {
  /**
   * Sets how many places the resource has, for all processes and for good; `null` leaves it to the requests again. No holder
   * loses a place: with more holders than places, no request succeeds until enough of them have left.
   * @throws {RangeError} unless it is `null` or a whole number from 1 to 1000
   */
  resize(resource: string, places: number | null): Promise<void>;
  /** The current holders in the order of their acquisition. For display. */
  holders(resource: string): Promise<Holding[]>;
}
