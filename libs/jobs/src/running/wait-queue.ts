import { createHash } from 'node:crypto';
import { NO_FENCE } from '@fencepost/lease';
import type { SemaphoreStore } from '@fencepost/lease/coordination';

/** At most this many runs wait for one resource; a further one is not queued and asks again later. */
const MAX_WAITING = 100;

/** Added to the announced wait before a position expires: the next delivery may wait for a free worker. */
const PATIENCE_MS = 5_000;

export interface Waiter {
  /** The resource that runs wait for; positions in the queue are permits under another name. */
  readonly resource: string;
  readonly runId: string;
  /** The job to wake, if there is one. */
  readonly jobId?: string | undefined;
}

/**
 * The runs that wait for a permit, first come, first served.
 *
 * It is a semaphore itself: each waiting run holds one of its permits, and the fences, which only rise, are the order. So a
 * run keeps its position when another worker gets its next delivery, and a run that is never delivered again loses it.
 */
export class WaitQueue {
  constructor(private readonly store: SemaphoreStore) {}

  /** How many runs are ahead, and whether this one waits already. */
  async look({ resource, runId }: Waiter): Promise<{ readonly ahead: number; readonly joined: boolean }> {
    const waiting = await this.store.holders(resource);
    const own = waiting.findIndex(({ holder }) => holder.startsWith(nonceOf(runId)));
    return own < 0 ? { ahead: waiting.length, joined: false } : { ahead: own, joined: true };
  }

  /** Takes a position, or keeps it. @returns false when the queue is full */
  async join({ resource, runId, jobId = '' }: Waiter, waitMs: number): Promise<boolean> {
    const nonce = nonceOf(runId);
    const reply = await this.store.acquire({
      ...{ resource, nonce, holder: `${nonce}:${jobId}`, ttlMs: waitMs + PATIENCE_MS },
      ...{ floor: NO_FENCE, places: MAX_WAITING },
    });
    return reply.acquired;
  }

  /** The job ids of the first waiting runs that have one. */
  async first(resource: string, max: number): Promise<string[]> {
    const waiting = await this.store.holders(resource);
    return waiting.slice(0, max).flatMap(({ holder }) => holder.slice(holder.indexOf(':') + 1) || []);
  }

  async leave({ resource, runId }: Waiter): Promise<void> {
    await this.store.release([{ resource, nonce: nonceOf(runId) }]);
  }
}

/** A run id may contain characters that a nonce may not. */
function nonceOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
