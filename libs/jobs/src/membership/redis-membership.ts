import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { MEMBER_GONE_MS, MAX_OVERDUE, OVERDUE_MS, type HeartbeatReply, type Membership } from './membership.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['heartbeat-pod']);

/** One command for a hundred thousand crons would block the server for other clients. */
const MAX_BATCH = 1_000;

export interface RedisMembershipOptions extends KeySpace {
  /** The caller closes it. */
  readonly redis: RedisClient;
}

/** Membership in two sorted sets beside the catalog: a heartbeat is one script. */
export class RedisMembership implements Membership {
  readonly #redis: RedisClient;
  readonly #pods: string;
  readonly #due: string;
  readonly #heard: string;
  readonly #version: string;

  constructor(options: RedisMembershipOptions) {
    this.#redis = options.redis;
    const key = redisKeys(options);
    this.#pods = key('catalog', 'pods');
    this.#due = key('catalog', 'due');
    this.#heard = key('catalog', 'heard');
    this.#version = key('catalog', 'version');
  }

  async heartbeat(pod: string): Promise<HeartbeatReply> {
    const keys = [this.#pods, this.#due, this.#heard, this.#version];
    const args = [pod, MEMBER_GONE_MS, OVERDUE_MS, MAX_OVERDUE];
    const reply = (await SCRIPTS['heartbeat-pod'].run(this.#redis, keys, args)) as [string, string, string[], string[]];
    const [now, version, pods, overdue] = reply;
    return {
      now: Number(now),
      catalogVersion: Number(version),
      members: pairs(pods, (name, sinceHeardMs) => ({ pod: name, sinceHeardMs })).toSorted((a, b) =>
        a.pod < b.pod ? -1 : 1,
      ),
      overdue: pairs(overdue, (cron, overdueMs) => ({ cron, overdueMs })),
    };
  }

  async leave(pod: string): Promise<void> {
    await this.#redis.zrem(this.#pods, pod);
  }

  async publishDue(dues: ReadonlyMap<string, number | null>): Promise<void> {
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
  const count = Math.ceil(items.length / MAX_BATCH);
  return Array.from({ length: count }, (_, n) => items.slice(n * MAX_BATCH, (n + 1) * MAX_BATCH));
}
