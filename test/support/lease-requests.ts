import { randomUUID } from 'node:crypto';
import { NO_FENCE, parseFence, type LeaseStore } from '@fencepost/lease';
import type { AcquireRequest } from '@fencepost/lease/store';

export const TTL_MS = 10_000;

/** Above every clock: from here on fences count one by one, which shows whether one was consumed. */
export const ABOVE_THE_CLOCK = parseFence('8000000000000000');

/** A request under a fresh nonce. */
export function request(over: Partial<AcquireRequest> = {}): AcquireRequest {
  return { resource: 'r', nonce: randomUUID(), holder: 'pod/1', ttlMs: TTL_MS, floor: NO_FENCE, ...over };
}

/** Acquires, and fails the test where it can't. */
export async function win(store: LeaseStore, over: Partial<AcquireRequest> = {}) {
  const { resource, nonce, ...asked } = request(over);
  const reply = await store.acquire({ resource, nonce, ...asked });
  if (!reply.acquired) throw new Error(`Expected to win ${resource}, which is held: ${JSON.stringify(reply)}.`);
  return { resource, nonce, fence: reply.fence };
}
