import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { AlarmStore, AlarmReading, Swap } from './alarm-store.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['read-alarms', 'swap-alarms']);

export interface RedisAlarmStoreOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
}

/** One hash of the whole tenant, beside the catalog. */
export class RedisAlarmStore implements AlarmStore {
  readonly #redis: RedisClient;
  readonly #key: string;

  constructor(options: RedisAlarmStoreOptions) {
    this.#redis = options.redis;
    this.#key = redisKeys(options)('catalog', 'alarms');
  }

  async read(crons: readonly string[]): Promise<AlarmReading> {
    const reply = (await SCRIPTS['read-alarms'].run(this.#redis, [this.#key], crons)) as string[];
    const [now, ...records] = reply;
    return { now: Number(now), records: records.map((record) => (record === '' ? null : record)) };
  }

  async swap(swaps: readonly Swap[]): Promise<boolean[]> {
    if (swaps.length === 0) return [];
    const args = swaps.flatMap(({ cron, was, is }) => [cron, was ?? '', is ?? '']);
    const written = (await SCRIPTS['swap-alarms'].run(this.#redis, [this.#key], args)) as number[];
    return written.map((one) => one === 1);
  }

  names(): Promise<string[]> {
    return this.#redis.hkeys(this.#key);
  }
}
