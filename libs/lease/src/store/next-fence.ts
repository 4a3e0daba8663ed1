import { FenceExhaustedError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import type { AcquireRequest } from './lease-store.js';

/**
 * The fence after `last`, above the floor, that follows a clock in microseconds: so it goes on after the counter is lost.
 * @throws {FenceExhaustedError} when it would pass 2^53 − 1
 */
export function nextFence(
  { resource, floor }: Pick<AcquireRequest, 'resource' | 'floor'>,
  last: Fence,
  now: number,
): Fence {
  const fence = Math.max(last + 1, floor + 1, Math.floor(now * 1_000));
  if (!Number.isSafeInteger(fence)) throw new FenceExhaustedError(resource);
  return fence as Fence;
}
