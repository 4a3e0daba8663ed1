import type { LossReason } from '../base/errors.js';
import type { Fence } from '../base/fence.js';

interface OfResource {
  readonly resource: string;
}

interface OfTerm extends OfResource {
  readonly holder: string;
  readonly fence: Fence;
}

interface OfSession {
  readonly holder: string;
  /** How many leases live with it. */
  readonly leases: number;
}

/** How a request to a store ended: granted, held by another holder, or the store did not answer. */
export type AcquireOutcome = 'acquired' | 'busy' | 'error';

/**
 * Every event of this library; logs and metrics are made from them.
 *
 * Resources and holders are in it as they are. Who passes an event on hashes the one and shortens the other, see
 * `hashResource` and `ownerPrefix`.
 */
export interface LeaseEvents {
  'lease.acquired': OfTerm & {
    readonly ttlMs: number;
    readonly tookMs: number;
    /** After how long it is lost, however often it is renewed; left out for never. */
    readonly maxHoldMs?: number;
    /** It lives with the session of its process and has no renewals of its own. */
    readonly underSession?: boolean;
  };
  /** Another holder has it. */
  'lease.busy': OfResource & { readonly remainingMs: number; readonly tookMs: number };
  /** The store did not answer, so the outcome is unknown. */
  'lease.acquire-failed': OfResource & { readonly tookMs: number; readonly error: unknown };
  'lease.extended': OfTerm;
  /** The store has the ttl that `lease.extend` asked for; from now on it is what renewals ask for. */
  'lease.ttl-changed': OfTerm & { readonly ttlMs: number };
  /** A renewal failed; it is retried until the lease expires. */
  'lease.extend-failed': OfTerm & { readonly error: unknown };
  /** The session of this process was renewed, and so were all the leases that live with it. */
  'session.extended': OfSession & { readonly ttlMs: number };
  /** A renewal of the session failed; it is retried until the session expires. */
  'session.extend-failed': OfSession & { readonly error: unknown };
  'lease.lost': OfTerm & { readonly reason: LossReason; readonly heldMs: number };
  'lease.released': OfTerm & { readonly heldMs: number };
  /** Released after its term had ended in the store: another holder may have acted meanwhile. */
  'lease.stale-release': OfTerm & { readonly heldMs: number };
  'lease.release-failed': OfTerm & { readonly heldMs: number; readonly error: unknown };
  /** The ttl in use doesn't fit how long the resource is held; `advisedTtlMs` would. */
  'lease.ttl-unfit': OfResource & {
    readonly verdict: 'too-short' | 'too-long';
    readonly ttlMs: number;
    readonly advisedTtlMs: number;
  };
  /** A downstream system refused a write because of its fence. */
  'fence.rejected': OfResource & { readonly downstream: string; readonly fence: Fence };
  /** A node of a quorum is asked again (`healthy`), or left out for a while because it fails. */
  'node.health': { readonly node: string; readonly healthy: boolean; readonly because?: string };
  /** What a server can't guarantee, in one sentence; see `probeRedis`. */
  'store.warning': { readonly code: string; readonly message: string };
}

export type LeaseEventName = keyof LeaseEvents;

/** One event with its name: a union to switch over. */
export type LeaseEvent = { [N in LeaseEventName]: { readonly name: N } & LeaseEvents[N] }[LeaseEventName];

/** Receives every event in order, as it happens. Must not throw and must not block. */
export type LeaseObserver = (event: LeaseEvent) => void;

export const unobserved: LeaseObserver = () => {};

/** Calls each observer; one that throws affects neither the others nor the lease. */
export function observers(...all: readonly LeaseObserver[]): LeaseObserver {
  return (event) => {
    for (const observe of all) {
      try {
        observe(event);
      } catch {
        // An observer is a guest: a lease is not lost because a log line could not be written.
      }
    }
  };
}

/** An event with which a term can end for its holder. */
export type EndOfTerm = Extract<LeaseEvent, { readonly heldMs: number }>;

/** Far more than one process holds; a term that is never released after its loss would stay for ever. */
const MAX_REMEMBERED = 10_000;

/**
 * A lost lease is released later, when its work has stopped, so that one term can end with two events. Who counts terms or
 * measures how long they lasted takes the first.
 */
export class LostTerms {
  readonly #lost = new Set<string>();

  /** Whether no earlier event has ended this term. To be asked once for each event. */
  isFirstEnd({ name, resource, fence }: EndOfTerm): boolean {
    const term = `${fence} ${resource}`;
    if (name !== 'lease.lost') return !this.#lost.delete(term);
    this.#lost.add(term);
    for (const oldest of this.#lost) {
      if (this.#lost.size <= MAX_REMEMBERED) break;
      this.#lost.delete(oldest);
    }
    return true;
  }
}
