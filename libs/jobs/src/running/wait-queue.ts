import { createHash } from 'node:crypto';
import { NO_FENCE } from '@fencepost/lease';
import type { SemaphoreStore } from '@fencepost/lease/coordination';

/** So many may wait in line, each with its place; who finds it full has none, and comes again. */
const MAX_WAITING = 100;

/** Beyond the time at which it said it would come again: a delivery may wait for a free worker. */
const PATIENCE_MS = 5_000;

export interface Waiter {
  /** What the line is for; its places have a name of their own. */
  readonly resource: string;
  readonly runId: string;
  /** What wakes whoever waits, where anything does. */
  readonly jobId?: string | undefined;
}

/**
 * The runs that wait for a place, in the order in which they came.
 *
 * It is a semaphore itself: whoever is in line holds one of its places, and the fences, which only rise, are the order. So a
 * run keeps its turn when another worker brings it the next time, and one that never comes again loses it by itself.
 */
export class WaitQueue {
  constructor(private readonly store: SemaphoreStore) {}

  /** How many came before, and whether the run is in line already. */
  async look({ resource, runId }: Waiter): Promise<{ readonly ahead: number; readonly joined: boolean }> {
    const waiting = await this.store.holders(resource);
    const own = waiting.findIndex(({ holder }) => holder.startsWith(nonceOf(runId)));
    return own < 0 ? { ahead: waiting.length, joined: false } : { ahead: own, joined: true };
  }

  /** Takes a turn, or keeps it. @returns whether there was room */
  async join({ resource, runId, jobId = '' }: Waiter, waitMs: number): Promise<boolean> {
    const nonce = nonceOf(runId);
    const reply = await this.store.acquire({
      ...{ resource, nonce, holder: `${nonce}:${jobId}`, ttlMs: waitMs + PATIENCE_MS },
      ...{ floor: NO_FENCE, places: MAX_WAITING },
    });
    return reply.acquired;
  }

  /** The job ids of the first ones in line, where they have any. */
  async first(resource: string, most: number): Promise<string[]> {
    const waiting = await this.store.holders(resource);
    return waiting.slice(0, most).flatMap(({ holder }) => holder.slice(holder.indexOf(':') + 1) || []);
  }

  async leave({ resource, runId }: Waiter): Promise<void> {
    await this.store.release([{ resource, nonce: nonceOf(runId) }]);
  }
}

/** A run's id may have characters that a nonce can't. */
function nonceOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
