import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { MEMBER_GONE_MS, MOST_OVERDUE, OVERDUE_MS, type Beat, type Presence } from './presence.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['beat-pod']);

/** A command of a hundred thousand crons would hold up everybody else's. */
const LARGEST_BATCH = 1_000;

export interface RedisPresenceOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
}

/** Who is there, in two sorted sets beside the catalog: one script answers a beat. */
export class RedisPresence implements Presence {
  readonly #redis: RedisClient;
  readonly #pods: string;
  readonly #due: string;
  readonly #heard: string;
  readonly #version: string;

  constructor(options: RedisPresenceOptions) {
    this.#redis = options.redis;
    const key = redisKeys(options);
    this.#pods = key('catalog', 'pods');
    this.#due = key('catalog', 'due');
    this.#heard = key('catalog', 'heard');
    this.#version = key('catalog', 'version');
  }

  async beat(pod: string): Promise<Beat> {
    const keys = [this.#pods, this.#due, this.#heard, this.#version];
    const args = [pod, MEMBER_GONE_MS, OVERDUE_MS, MOST_OVERDUE];
    const reply = (await SCRIPTS['beat-pod'].run(this.#redis, keys, args)) as [string, string, string[], string[]];
    const [now, version, pods, overdue] = reply;
    return {
      now: Number(now),
      catalogVersion: Number(version),
      members: pairs(pods, (name, silentMs) => ({ pod: name, silentMs })).toSorted((a, b) => (a.pod < b.pod ? -1 : 1)),
      overdue: pairs(overdue, (cron, overdueMs) => ({ cron, overdueMs })),
    };
  }

  async leave(pod: string): Promise<void> {
    await this.#redis.zrem(this.#pods, pod);
  }

  async announce(dues: ReadonlyMap<string, number | null>): Promise<void> {
    const all = [...dues];
    const gone = all.flatMap(([cron, due]) => (due === null ? [cron] : []));
    const noted = all.flatMap(([cron, due]) => (due === null ? [] : [[due, cron] as const]));
    await Promise.all([
      ...inParts(gone).map((part) => this.#redis.zrem(this.#due, ...part)),
      ...inParts(noted).map((part) => this.#redis.zadd(this.#due, ...part.flat())),
    ]);
  }

  async lastHeard(): Promise<number | null> {
    const heard = await this.#redis.get(this.#heard);
    return heard === null ? null : Number(heard);
  }
}

function pairs<T>(flat: readonly string[], of: (name: string, value: number) => T): T[] {
  return Array.from({ length: flat.length / 2 }, (_, n) => of(flat[2 * n] ?? '', Number(flat[2 * n + 1])));
}

function inParts<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / LARGEST_BATCH);
  return Array.from({ length: count }, (_, n) => items.slice(n * LARGEST_BATCH, (n + 1) * LARGEST_BATCH));
}
