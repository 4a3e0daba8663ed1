import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { NO_FENCE, parseFence } from '../../base/fence.js';
import type { Fence } from '../../base/fence.js';
import type { Term } from '../../store/grant.js';
import type { AcquireRequest, LeaseStore } from '../../store/lease-store.js';
import type { LeaseStoreHarness } from './harness.js';

export const TTL_MS = 10_000;
const SHORT_TTL_MS = 50;

/** Above every clock: from here on fences count one by one, which shows whether one was consumed. */
export const ABOVE_THE_CLOCK = parseFence('8000000000000000');

export interface WonTerm extends Term {
  readonly fence: Fence;
}

/** What a claim is proved with: a store of its own, and words for what nearly every claim does. */
export interface Stage {
  readonly harness: LeaseStoreHarness;
  readonly store: LeaseStore;
  readonly coarsenessMs: number;
  /** The ttl of what is meant to end. */
  readonly shortTtlMs: number;
  /** Acquires, and fails the test where it can't. */
  readonly win: (over?: Partial<AcquireRequest>) => Promise<WonTerm>;
  /** Acquires a term that is over when this resolves. */
  readonly winAndExpire: (resource?: string) => Promise<WonTerm>;
  /** How many milliseconds the holder has left, as the store sees it; 0 where nobody holds the resource. */
  readonly left: (resource?: string) => Promise<number>;
}

/** A sentence about every lease store, and what shows it. */
export type Claims = Readonly<Record<string, (stage: Stage) => Promise<void>>>;

/** A request under a fresh nonce. */
export function request(over: Partial<AcquireRequest> = {}): AcquireRequest {
  return { resource: 'r', nonce: randomUUID(), holder: 'pod/1', ttlMs: TTL_MS, floor: NO_FENCE, ...over };
}

export function stageOf(harness: LeaseStoreHarness): Stage {
  const { store, coarsenessMs = 0, shortTtlMs = SHORT_TTL_MS } = harness;
  const win = (over?: Partial<AcquireRequest>) => winFrom(store, over);
  return {
    harness,
    store,
    coarsenessMs,
    shortTtlMs,
    win,
    winAndExpire: async (resource = 'r') => {
      const term = await win({ resource, ttlMs: shortTtlMs });
      await harness.untilFree(resource);
      return term;
    },
    left: async (resource = 'r') => (await store.inspect([resource]))[0]?.remainingMs ?? 0,
  };
}

/** Acquires, and fails the test where it can't. */
async function winFrom(store: LeaseStore, over: Partial<AcquireRequest> = {}): Promise<WonTerm> {
  const asked = request(over);
  const reply = await store.acquire(asked);
  assert.ok(reply.acquired, `Expected to win ${asked.resource}, which somebody holds: ${JSON.stringify(reply)}.`);
  return { resource: asked.resource, nonce: asked.nonce, fence: reply.fence };
}
