import { sleep } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { Fence } from '../base/fence.js';
import type { Leases } from '../holding/leases.js';
import type { Holding } from '../store/lease-store.js';

/** The leader as an observer sees it. */
export interface Leader {
  readonly holder: string;
  readonly fence: Fence;
}

export interface Watching {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** An acquired role is not announced: while it is free or unknown, an observer learns of it this late. */
const FREE_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/**
 * Looks at who holds the resource, and yields what differs from the look before. It looks when it is asked for the next, so
 * what it yields is never older than that, and a slow reader skips changes instead of falling behind.
 */
export async function* leadersOf(resource: string, watching: Watching): AsyncGenerator<Leader | null, void, undefined> {
  const { clock, leases, signal } = watching;
  const listening = leases.hints.listen([resource]);
  let last: Leader | null | undefined;
  try {
    for (;;) {
      if (signal?.aborted) return;
      // Armed before the look: a release after it ends the pause, one before it is seen.
      listening.again();
      const holding = await look(resource, watching);
      if (holding !== undefined && !isSame(holding, last)) {
        last = holding && { holder: holding.holder, fence: holding.fence };
        yield last;
      } else {
        const woken = signal ? AbortSignal.any([listening.released, signal]) : listening.released;
        await sleep(clock, pauseMs(holding), woken);
      }
    }
  } finally {
    listening.stop();
  }
}

/** `undefined` when the store could not be asked. */
async function look(resource: string, { leases }: Watching): Promise<Holding | null | undefined> {
  try {
    return await leases.inspect(resource);
  } catch {
    return undefined;
  }
}

function isSame(holding: Leader | null, last: Leader | null | undefined): boolean {
  if (holding === null || !last) return holding === last;
  return holding.fence === last.fence && holding.holder === last.holder;
}

/** A leader that lives renews when two thirds of its ttl are left, so a third of what is left is about a quarter of it. */
function pauseMs(holding: Holding | null | undefined): number {
  if (!holding) return FREE_PAUSE_MS;
  return Math.min(Math.max(holding.remainingMs / 3, FREE_PAUSE_MS), MAX_PAUSE_MS);
}
