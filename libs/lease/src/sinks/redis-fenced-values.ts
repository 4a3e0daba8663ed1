import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkWhole } from '../store/lease-request.js';
import { redisKeys } from '../store/keys.js';
import type { KeyBuilder, KeySpace } from '../store/keys.js';
import { loadScripts } from '../redis/redis-script.js';
import type { RedisClient } from '../redis/redis-script.js';
import { resourceName } from '../base/resource.js';
import type { ResourceName } from '../base/resource.js';
import { unobserved } from '../telemetry/lease-events.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import type { FenceGate } from './fence-gate.js';
import type { FencedValue, FencedValues, SetValueOptions } from './fenced-values.js';
import { retentionMs } from './fenced-values.js';
import { refuseStale } from './refuse-stale.js';
import type { Refuser } from './refuse-stale.js';
import { TEXTS } from '../lua/texts.js';

export interface RedisFencedValuesOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
  /** Sets of values that share a key space have different ones; default `values`. */
  readonly collection?: string;
  /**
   * How long a fence is remembered after its value has expired, or after it was last admitted; default `30d`. A writer that
   * was paused for longer than that gets in: make it longer than any process or machine may sleep.
   */
  readonly retention?: string | number;
  /** What metrics call this store; default: the collection. */
  readonly downstream?: string;
  readonly observe?: LeaseObserver;
}

const scripts = loadScripts(TEXTS, ['set-value', 'get-value', 'admit-fence']);

/**
 * Values in Redis that refuse a stale writer. Each key has a cluster slot of its own.
 *
 * Values and fences lie in one Redis: one that loses its data loses both, and the first writer afterwards is believed.
 */
export class RedisFencedValues implements FencedValues, FenceGate {
  readonly #redis: RedisClient;
  readonly #key: KeyBuilder;
  readonly #collection: string;
  readonly #retention: string;
  readonly #refuser: Refuser;

  /** @throws {SetupError} for a prefix or tenant that can't be part of a key, and for a retention that is no duration */
  constructor(options: RedisFencedValuesOptions) {
    const { collection = 'values', downstream = collection, observe = unobserved } = options;
    this.#redis = options.redis;
    this.#key = redisKeys(options);
    this.#collection = collection;
    this.#retention = retentionMs(options.retention).toFixed(0);
    this.#refuser = { downstream, observe };
  }

  async set(key: ResourceName, value: string, { fence, ttlMs }: SetValueOptions): Promise<void> {
    checkWhole('fence', fence, 0);
    if (ttlMs !== undefined) checkWhole('ttlMs', ttlMs, 1);
    const name = resourceName(key);
    const args = [formatFence(fence), value, (ttlMs ?? 0).toFixed(0), this.#retention];
    const reply = await scripts['set-value'].run(this.#redis, [this.#value(name), this.#seen(name)], args);
    this.#judge(name, fence, reply);
  }

  async get(key: ResourceName): Promise<FencedValue | null> {
    const found = await scripts['get-value'].run(this.#redis, [this.#value(resourceName(key))], []);
    if (found === null) return null;
    const [value = '', fence = '', ageMs] = found as string[];
    return { value, fence: parseFence(fence), ageMs: Number(ageMs) };
  }

  /**
   * Checks a fence in front of a system that can't compare fences itself, and remembers it. The values of the collection
   * heed it as well.
   * @throws {StaleFenceError} when a larger fence has been seen
   */
  async admit(resource: string, fence: Fence): Promise<void> {
    checkWhole('fence', fence, 0);
    const args = [formatFence(fence), this.#retention];
    this.#judge(resource, fence, await scripts['admit-fence'].run(this.#redis, [this.#seen(resource)], args));
  }

  #judge(resource: string, fence: Fence, reply: unknown): void {
    const [word, seen] = reply as string[];
    if (word !== 'STALE') return;
    refuseStale(this.#refuser, { resource, fence, detail: `fence ${seen ?? '?'} has been seen there` });
  }

  #value(name: string): string {
    return this.#key(name, `value:${this.#collection}`);
  }

  #seen(name: string): string {
    return this.#key(name, `seen:${this.#collection}`);
  }
}
