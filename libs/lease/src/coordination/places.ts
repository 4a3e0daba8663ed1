import type { Holding } from '../store/lease-store.js';

/** A script reads all places of a resource, and holds up everybody else's commands while it runs. */
export const MAX_PLACES = 1_000;

export function isPlaces(places: number): boolean {
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
