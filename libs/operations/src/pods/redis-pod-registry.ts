import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { POD_GONE_MS, type NewPodCard, type PodCard, type PodRegistry, byIdentity } from './pod-registry.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['report-pod', 'list-pods']);

export interface RedisPodRegistryOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
}

/** Which pods there are, in a hash and a sorted set beside the catalog. */
export class RedisPodRegistry implements PodRegistry {
  readonly #redis: RedisClient;
  readonly #cards: string;
  readonly #times: string;

  constructor(options: RedisPodRegistryOptions) {
    this.#redis = options.redis;
    const key = redisKeys(options);
    this.#cards = key('catalog', 'pod-cards');
    this.#times = key('catalog', 'pod-times');
  }

  async report(card: NewPodCard): Promise<number> {
    const args = [card.pod, JSON.stringify(card), POD_GONE_MS];
    const micros = await SCRIPTS['report-pod'].run(this.#redis, [this.#cards, this.#times], args);
    return Number(micros) / 1_000;
  }

  async list(): Promise<PodCard[]> {
    const keys = [this.#cards, this.#times];
    const flat = (await SCRIPTS['list-pods'].run(this.#redis, keys, [POD_GONE_MS])) as string[];
    const found = Array.from({ length: flat.length / 2 }, (_, n) => cardOf(flat[2 * n + 1] ?? '', flat[2 * n] ?? ''));
    return found.filter((card) => card !== null).toSorted(byIdentity);
  }

  async leave(pod: string): Promise<void> {
    await Promise.all([this.#redis.zrem(this.#times, pod), this.#redis.hdel(this.#cards, pod)]);
  }
}

/** `null` for a card that cannot be read: its pod writes it anew with its next report, and the others are listed meanwhile. */
function cardOf(card: string, seenAt: string): PodCard | null {
  try {
    return { ...(JSON.parse(card) as NewPodCard), seenAt: Number(seenAt) };
  } catch {
    return null;
  }
}
