import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkWhole } from '../store/lease-request.js';
import { resourceName } from '../base/resource.js';
import type { ResourceName } from '../base/resource.js';
import { unobserved } from '../telemetry/lease-events.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import type { FenceGate } from './fence-gate.js';
import type { FencedValue, FencedValues, SetValueOptions } from './fenced-values.js';
import { retentionMs } from './fenced-values.js';
import { refuseStale } from './refuse-stale.js';
import type { Refuser } from './refuse-stale.js';

export interface MemoryFencedValuesOptions {
  readonly clock?: Clock;
  /** How long a fence is remembered after its value has expired, or after it was last admitted; default `30d`. */
  readonly retention?: string | number;
  /** What metrics call this store; default `values`. */
  readonly downstream?: string;
  readonly observe?: LeaseObserver;
}

interface Stored {
  readonly value: string;
  readonly fence: Fence;
  readonly at: number;
  readonly expiresAt: number;
}

interface Seen {
  readonly fence: Fence;
  readonly forgottenAt: number;
}

/** The in-memory adapter, for tests and for one process. Its clock is the server's clock. */
export class MemoryFencedValues implements FencedValues, FenceGate {
  readonly #clock: Clock;
  readonly #retentionMs: number;
  readonly #refuser: Refuser;
  readonly #values = new Map<string, Stored>();
  readonly #seen = new Map<string, Seen>();

  constructor(options: MemoryFencedValuesOptions = {}) {
    const { clock = systemClock, downstream = 'values', observe = unobserved } = options;
    this.#clock = clock;
    this.#retentionMs = retentionMs(options.retention);
    this.#refuser = { downstream, observe };
  }

  async set(key: ResourceName, value: string, { fence, ttlMs }: SetValueOptions): Promise<void> {
    if (ttlMs !== undefined) checkWhole('ttlMs', ttlMs, 1);
    const name = resourceName(key);
    this.#judge(name, fence);
    const at = this.#clock.now();
    const expiresAt = at + (ttlMs ?? Number.POSITIVE_INFINITY);
    this.#values.set(name, { value, fence, at, expiresAt });
    this.#seen.set(name, { fence, forgottenAt: expiresAt + this.#retentionMs });
  }

  async get(key: ResourceName): Promise<FencedValue | null> {
    const found = this.#values.get(resourceName(key));
    const now = this.#clock.now();
    if (!found || found.expiresAt <= now) return null;
    return { value: found.value, fence: found.fence, ageMs: Math.max(0, now - found.at) };
  }

  /** @throws {StaleFenceError} when a larger fence has been seen */
  async admit(resource: string, fence: Fence): Promise<void> {
    this.#judge(resource, fence);
    const before = this.#seenNow(resource)?.forgottenAt ?? 0;
    this.#seen.set(resource, { fence, forgottenAt: Math.max(this.#clock.now() + this.#retentionMs, before) });
  }

  #judge(resource: string, fence: Fence): void {
    checkWhole('fence', fence, 0);
    const seen = this.#seenNow(resource)?.fence ?? NO_FENCE;
    if (fence < seen) refuseStale(this.#refuser, { resource, fence, detail: `fence ${seen} has been seen there` });
  }

  #seenNow(name: string): Seen | undefined {
    const seen = this.#seen.get(name);
    return seen && seen.forgottenAt > this.#clock.now() ? seen : undefined;
  }
}
