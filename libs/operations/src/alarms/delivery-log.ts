import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';

/** One try to reach a receiver. */
export interface Delivery {
  /** ISO 8601. */
  readonly at: string;
  readonly messageId: string;
  /** Such as `alarm.raised` or `ping.success`. */
  readonly about: string;
  /** `null` for a test. */
  readonly cron: string | null;
  readonly attempt: number;
  /** `muted`: not sent, because its cron was muted. */
  readonly outcome: 'delivered' | 'failed' | 'muted';
  /** The status of the answer; `null` where there was none. */
  readonly status: number | null;
  readonly tookMs: number;
  readonly error: string | null;
}

/** Of each receiver so many are kept, for so long after the last one. */
const MAX_KEPT = 50;
const KEPT_MS = 30 * 24 * 3_600_000;

/** Every ping of every cron is in one log: there may be thousands of crons, and each log costs memory. */
export const PINGS = 'pings';

/** The latest deliveries to each receiver, in Redis, where the queue of messages is too. Hints for people: one may be lost. */
export class DeliveryLog {
  constructor(private readonly options: KeySpace & { readonly redis: RedisClient }) {}

  async add(receiver: string, delivery: Delivery): Promise<void> {
    const key = this.#keyOf(receiver);
    const writes = this.options.redis.multi().lpush(key, JSON.stringify(delivery));
    await writes
      .ltrim(key, 0, MAX_KEPT - 1)
      .pexpire(key, KEPT_MS)
      .exec();
  }

  /** The newest first. */
  async of(receiver: string): Promise<readonly Delivery[]> {
    const found = await this.options.redis.lrange(this.#keyOf(receiver), 0, MAX_KEPT - 1);
    return found.map((text) => JSON.parse(text) as Delivery);
  }

  #keyOf(receiver: string): string {
    return redisKeys(this.options)('catalog', `deliveries:${receiver}`);
  }
}
