import { randomUUID } from 'node:crypto';
import { NO_FENCE, parseFence } from '@fencepost/lease';
import type { AcquireRequest, Fence, LeaseStore, Term } from '@fencepost/lease';

export const TTL_MS = 10_000;

/** Above every clock: from here on fences count one by one, which shows whether one was consumed. */
export const ABOVE_THE_CLOCK = parseFence('8000000000000000');

/** A request under a fresh nonce. */
export function request(over: Partial<AcquireRequest> = {}): AcquireRequest {
  return { resource: 'r', nonce: randomUUID(), holder: 'pod/1', ttlMs: TTL_MS, floor: NO_FENCE, ...over };
}

/** Acquires, and fails the test where it can't. */
export async function win(store: LeaseStore, over: Partial<AcquireRequest> = {}): Promise<Term & { fence: Fence }> {
  const asked = request(over);
  const reply = await store.acquire(asked);
  if (!reply.acquired) throw new Error(`Expected to win ${asked.resource}, ${reply.remainingMs} ms are left.`);
  return { resource: asked.resource, nonce: asked.nonce, fence: reply.fence };
}
