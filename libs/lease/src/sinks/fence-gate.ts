import { NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkWhole } from '../store/lease-request.js';
import { unobserved } from '../telemetry/lease-events.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import { refuseStale } from './refuse-stale.js';
import type { Refuser } from './refuse-stale.js';

/**
 * Remembers the highest fence per resource, for a service whose own writes can't compare one: a provider's API, a file.
 *
 * It narrows the window and doesn't close it, unless admission and write are one transaction: a request may be admitted,
 * be paused, and write after its successor.
 */
export interface FenceGate {
  /**
   * Lets the highest fence so far in, and the same one again.
   * @throws {StaleFenceError} for a smaller one. A server answers 409 or 412: repeating it changes nothing
   * @throws {RangeError} for a fence that no store issues
   */
  admit(resource: string, fence: Fence): Promise<void>;
}

export interface FenceGateOptions {
  /** The name of the system behind the gate in metrics; default `gate`. */
  readonly downstream?: string;
  readonly observe?: LeaseObserver;
}

/** The gate of one process, and for tests. It forgets nothing before the process ends. */
export class MemoryFenceGate implements FenceGate {
  readonly #refuser: Refuser;
  readonly #highest = new Map<string, Fence>();

  constructor({ downstream = 'gate', observe = unobserved }: FenceGateOptions = {}) {
    this.#refuser = { downstream, observe };
  }

  async admit(resource: string, fence: Fence): Promise<void> {
    checkWhole('fence', fence, 1);
    const highest = this.#highest.get(resource) ?? NO_FENCE;
    if (fence < highest) refuseStale(this.#refuser, { resource, fence, detail: `fence ${highest} was admitted` });
    this.#highest.set(resource, fence);
  }
}
