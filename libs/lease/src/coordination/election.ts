import { systemClock, sleep } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { LeaseBusyError, LeaseLostError, isBug, isFinal } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import type { Lease } from '../holding/held-lease.js';
import type { Leases } from '../holding/leases.js';
import { reservedResource, resourceName } from '../base/resource.js';
import type { Holding } from '../store/lease-store.js';

export interface ElectionOptions {
  readonly leases: Leases;
  readonly clock?: Clock;
}

export interface CampaignOptions {
  /** The longest time without a leader after a leader has died; default: the TTL of `leases`. */
  readonly ttl?: string | number;
  /** Ends the campaign with the signal's reason; leading, once begun, goes on. */
  readonly signal?: AbortSignal;
}

/** The right to act for a role. Larger fence, later leader: pass it on with everything that is done in the role. */
export interface Leadership {
  readonly role: string;
  readonly holder: string;
  readonly fence: Fence;
  /** Aborts when leading ends: with a `LeaseLostError` when it was lost, else because of the resignation. */
  readonly signal: AbortSignal;
  /**
   * Hands over: a waiting candidate is elected within milliseconds. Call it when the work has stopped, also after a loss.
   * @returns whether it still was the leader
   * @throws when the store could not be asked; the role is then free within the ttl
   */
  resign(): Promise<boolean>;
}

/** A campaign is many of these: `Leases` waits for a bounded time, a candidate doesn't. */
const ONE_WAIT = '1h';

/**
 * Leader election for a role: campaign, observe and resign as etcd has them, on a lease of the role.
 *
 * A leader that was paused believes for a moment longer that it leads. The fence tells who is right: whatever is written in
 * the role has to carry it.
 */
export class Election {
  readonly #leases: Leases;
  readonly #clock: Clock;

  constructor({ leases, clock = systemClock }: ElectionOptions) {
    this.#leases = leases;
    this.#clock = clock;
  }

  /**
   * Waits without end until this process leads.
   * @throws {SetupError} for a role or a ttl that can't be
   * @throws {FenceExhaustedError}
   * @throws {LeasesClosedError} when the leases are closed
   * @throws the signal's reason when it aborts
   */
  async campaign(role: string, { signal, ttl }: CampaignOptions = {}): Promise<Leadership> {
    const options = { wait: ONE_WAIT, ...(signal && { signal }), ...(ttl === undefined ? {} : { ttl }) };
    for (;;) {
      try {
        return leadershipOf(role, await this.#leases.acquire(resourceOf(role), options));
      } catch (error) {
        // A store that was away for all of that time may come back: a candidate outlasts its store.
        if (isBug(error) || signal?.aborted) throw error;
        if (isFinal(error) && !(error instanceof LeaseBusyError)) throw error;
      }
    }
  }

  /**
   * Campaigns, runs `work` while elected, and resigns when it has ended. After a loss it campaigns anew, whatever `work`
   * returned or threw: what it did last may have been refused.
   * @param work has to stop when its signal aborts: at a loss, and with `options.signal`
   * @returns what `work` returned, when it ended by itself
   * @throws what `work` throws while it leads, and the signal's reason
   */
  async lead<T>(role: string, options: CampaignOptions, work: (leadership: Leadership) => Promise<T>): Promise<T> {
    for (;;) {
      const leadership = await this.campaign(role, options);
      const over = options.signal ? AbortSignal.any([leadership.signal, options.signal]) : leadership.signal;
      try {
        const result = await work({ ...leadership, signal: over });
        if (!isLost(leadership)) return result;
      } catch (error) {
        if (!isLost(leadership)) throw error;
      } finally {
        await leadership.resign().catch(() => {});
      }
    }
  }

  /**
   * Who leads: at once, and then after every change that is seen. Changes that follow each other faster than they are taken
   * come as one, the last one always comes. For information: a leader may have lost the role when its name arrives here.
   *
   * A store that can't be asked is asked again; that nothing is heard of it is no change.
   * @param options.signal ends the iteration, as closing the leases does
   * @throws {SetupError} for a role that can't be
   */
  observe(role: string, { signal }: { readonly signal?: AbortSignal } = {}): AsyncIterable<Leader | null> {
    const resource = resourceName(resourceOf(role));
    return leadersOf(resource, { leases: this.#leases, clock: this.#clock, signal });
  }
}

function resourceOf(role: string) {
  return reservedResource('role', role);
}

function leadershipOf(role: string, lease: Lease): Leadership {
  const { holder, fence, signal } = lease;
  return { role, holder, fence, signal, resign: () => lease.release() };
}

function isLost({ signal }: Leadership): boolean {
  return signal.reason instanceof LeaseLostError;
}

/** The leader as an observer sees it. */
export interface Leader {
  readonly holder: string;
  readonly fence: Fence;
}

interface Watching {
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
async function* leadersOf(resource: string, watching: Watching): AsyncGenerator<Leader | null, void, undefined> {
  const { clock, leases, signal } = watching;
  const listening = leases.hints.listen([resource]);
  let last: Leader | null | undefined;
  try {
    for (;;) {
      if (signal?.aborted || leases.hints.isClosed) return;
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
