import { SetupError } from '../base/errors.js';
import { Leases, type AcquireOptions, type LeasesOptions, type WaitOptions } from '../holding/leases.js';
import type { Lease } from '../holding/held-lease.js';
import { resourceName, type ResourceName } from '../base/resource.js';
import type { Holding } from '../store/lease-store.js';
import type { SemaphoreStore } from './semaphore-store.js';

/** A script reads all places of a resource, and holds up everybody else's commands while it runs. */
const MAX_PLACES = 1_000;

function isPlaces(places: number): boolean {
  return Number.isSafeInteger(places) && places >= 1 && places <= MAX_PLACES;
}

/** @throws {RangeError} */
export function checkPlaces(places: number): void {
  if (isPlaces(places)) return;
  throw new RangeError(`Expected places as a whole number from 1 to ${MAX_PLACES}, got ${places}.`);
}

/**
 * The term whose end frees a place, or `undefined` while one is free. That is the first to end, except where the places
 * were made fewer than the holders: then so many have to leave before it.
 * @param terms the one that ends first in front
 */
export function nextToFree<T>(terms: readonly T[], places: number): T | undefined {
  return terms.length < places ? undefined : terms[terms.length - places];
}

/** In the order in which they got their places. */
export function byFence(a: Holding, b: Holding): number {
  return a.fence - b.fence;
}

export interface SemaphoresOptions extends Omit<LeasesOptions, 'store'> {
  readonly store: SemaphoreStore;
}

export interface SemaphoreOptions {
  /** How many may hold the resource at once, 1 to 1000, unless `resize` has set it. The same in every process. */
  readonly places: number;
}

export type PlaceOptions = Omit<AcquireOptions, 'places'>;
export type PlaceWaitOptions = Omit<WaitOptions, 'places'>;

/**
 * A resource that several may hold at once. The holder of a place has a lease like any other: with a fence of its own,
 * renewed until it is released or lost. A holder that died frees its place when its ttl is over.
 *
 * Several are entitled at once, so a sink that refuses every smaller fence would refuse those that still hold a place. Let
 * each holder write where no other does, or take a lease for what they share.
 *
 * Waiters are not served in order: the first to ask when a place becomes free gets it.
 */
export class Semaphore {
  readonly #leases: Leases;
  readonly #store: SemaphoreStore;
  readonly #places: number;

  /** @param resource by its checked name; to be had from {@link Semaphores.of} */
  constructor(
    readonly resource: string,
    { leases, store, places }: { leases: Leases; store: SemaphoreStore; places: number },
  ) {
    this.#leases = leases;
    this.#store = store;
    this.#places = places;
  }

  /**
   * Asks once.
   * @returns `null` when all places are taken
   * @throws as {@link Leases.tryAcquire} does
   */
  tryAcquire(options: PlaceOptions = {}): Promise<Lease | null> {
    return this.#leases.tryAcquire(this.resource, { ...options, places: this.#places });
  }

  /**
   * Waits until a place is free, `wait` at most.
   * @throws {LeaseBusyError} when all places were taken all the time
   * @throws the signal's reason when it aborts, and whatever {@link tryAcquire} throws
   */
  acquire(options: PlaceWaitOptions = {}): Promise<Lease> {
    return this.#leases.acquire(this.resource, { ...options, places: this.#places });
  }

  /**
   * Waits for a place, runs `work` in it, and frees it when `work` has returned or thrown.
   * @throws {LeaseLostError} when the place was lost before `work` ended
   * @throws what `work` throws, and whatever {@link acquire} throws
   */
  using<T>(options: PlaceWaitOptions, work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.#leases.using(this.resource, { ...options, places: this.#places }, work);
  }

  /**
   * Sets how many places there are, for all processes and for good; `null` leaves it to their `places` again. No holder
   * loses a place: with more holders than places, no request succeeds until enough of them have left.
   * @throws {SetupError} unless it is `null` or a whole number from 1 to 1000
   * @throws when the store could not be asked
   */
  async resize(places: number | null): Promise<void> {
    if (places !== null) checkedPlaces(places);
    await this.#store.resize(this.resource, places);
  }

  /** The current holders in the order of their acquisition; for display, never a basis for acting. */
  holders(): Promise<Holding[]> {
    return this.#store.holders(this.resource);
  }
}

/** The semaphores of one process. `await using semaphores = …`, or `close()`, gives back every place that is held. */
export class Semaphores implements AsyncDisposable {
  readonly #leases: Leases;
  readonly #store: SemaphoreStore;

  /** @throws {SetupError} for a ttl that is no duration */
  constructor(options: SemaphoresOptions) {
    this.#leases = new Leases(options);
    this.#store = options.store;
  }

  /** The identity of this process. */
  get holder(): string {
    return this.#leases.holder;
  }

  /** @throws {SetupError} for a resource or a number of places that can't be */
  of(resource: ResourceName, { places }: SemaphoreOptions): Semaphore {
    const parts = { leases: this.#leases, store: this.#store, places: checkedPlaces(places) };
    return new Semaphore(resourceName(resource), parts);
  }

  /** Gives back every place that is held. @returns how many were still ours */
  releaseAll(): Promise<number> {
    return this.#leases.releaseAll();
  }

  /** Gives back every place that is held and stops listening. The store's connection stays its owner's. */
  close(): Promise<void> {
    return this.#leases.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function checkedPlaces(places: number): number {
  if (isPlaces(places)) return places;
  throw new SetupError(`Expected places as a whole number from 1 to ${MAX_PLACES}, got ${places}.`);
}
