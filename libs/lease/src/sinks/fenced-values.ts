import { parseDuration } from '../base/checked-options.js';
import { SetupError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import type { ResourceName } from '../base/resource.js';

/** A value as the store has it. */
export interface FencedValue {
  readonly value: string;
  /** It was written under this one. */
  readonly fence: Fence;
  /** Milliseconds since it was written, by the store's clock. */
  readonly ageMs: number;
}

export interface SetValueOptions {
  /** Of the lease or attempt that writes. */
  readonly fence: Fence;
  /** How long the value lives, in milliseconds; for ever by default. */
  readonly ttlMs?: number;
}

/**
 * Values that refuse a stale writer: compare-and-set on the fence. Every implementation passes
 * `test/contracts/fenced-values.contract.ts`.
 *
 * The largest fence seen for a key outlives its value. Otherwise a holder that was paused for longer than the value lived
 * would wake up, find nothing it could collide with, and put its old value back.
 */
export interface FencedValues {
  /**
   * Writes under the fence; the same write again changes nothing but the value's age.
   * @throws {StaleFenceError} when a larger fence has been seen for the key; nothing was changed
   * @throws {SetupError} for a key that can't be a resource's name
   * @throws {RangeError} for a ttl or a fence that isn't a whole number
   */
  set(key: ResourceName, value: string, options: SetValueOptions): Promise<void>;
  /** The value, `null` when there is none or it has expired. */
  get(key: ResourceName): Promise<FencedValue | null>;
}

/**
 * How long a fence is remembered after its value has expired, in milliseconds.
 * @throws {SetupError} for an invalid duration, and for a missing one: then a stale writer would only have to wait
 */
export function retentionMs(retention: string | number = '30d'): number {
  const milliseconds = parseDuration(retention);
  if (milliseconds > 0) return milliseconds;
  throw new SetupError(`Expected a retention longer than 0, got ${JSON.stringify(retention)}.`);
}
