import { SetupError } from '../base/errors.js';
import type { AcquireRequest } from './lease-store.js';

export const MIN_TTL_MS = 300;
export const MAX_TTL_MS = 3_600_000;

/**
 * Shorter than 300 ms, and a garbage collection or a slow reply costs the lease; longer than an hour, and a pod that
 * died blocks its resource for that long. Work that takes longer renews.
 * @throws {SetupError}
 */
export function checkTtl(ttlMs: number): void {
  if (Number.isSafeInteger(ttlMs) && ttlMs >= MIN_TTL_MS && ttlMs <= MAX_TTL_MS) return;
  throw new SetupError(`Expected a ttl from '300ms' to '1h', got ${ttlMs} ms.`);
}

/**
 * What every store refuses before it writes. Stores take any ttl above 0: the bounds are for holders, which have to be
 * able to renew in time.
 * @throws {RangeError}
 */
export function checkRequest(request: Pick<AcquireRequest, 'ttlMs' | 'floor' | 'nonce'>): void {
  if (!/^\S+$/.test(request.nonce)) {
    throw new RangeError(`Expected a nonce without blanks, got ${JSON.stringify(request.nonce)}.`);
  }
  checkWhole('ttlMs', request.ttlMs, 1);
  checkWhole('floor', request.floor, 0);
}

/** @throws {RangeError} */
export function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`Expected ${name} as a whole number from ${least}, got ${value}.`);
}

/**
 * Calls a watcher of releases or of a loss. An error it throws becomes a process warning: it affects neither the release,
 * nor the other watchers, nor the connection, nor the process.
 */
export function notifyWatcher<T>(watch: (event: T) => void, event: T): void {
  try {
    watch(event);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  }
}
