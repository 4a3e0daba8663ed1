import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { FORMAT } from '@fencepost/ledger/format';
import {
  FormatBehindError,
  MEMBER_GONE_MS,
  MAX_OVERDUE,
  OVERDUE_MS,
  type HeartbeatReply,
  type LowestFormat,
  type Membership,
} from './membership.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['announce-process', 'heartbeat-pod', 'read-formats']);

/** One command for a hundred thousand crons would block the server for other clients. */
const MAX_BATCH = 1_000;

export interface RedisMembershipOptions extends KeySpace {
  /** The caller closes it. */
  readonly redis: RedisClient;
  /** Default {@link FORMAT}. */
  readonly format?: number;
}

type Keys = Readonly<
  Record<'pods' | 'due' | 'heard' | 'version' | 'writers' | 'formats' | 'format' | 'weights', string>
>;

/** Membership in sorted sets beside the catalog: a heartbeat is one script. */
export class RedisMembership implements Membership {
  readonly #redis: RedisClient;
  readonly #keys: Keys;
  readonly #format: number;

  constructor(options: RedisMembershipOptions) {
    this.#redis = options.redis;
    this.#format = options.format ?? FORMAT;
    const key = (part: string) => redisKeys(options)('catalog', part);
    this.#keys = {
      ...{ pods: key('pods'), due: key('due'), heard: key('heard'), version: key('version') },
      ...{ writers: key('writers'), formats: key('formats'), format: key('format') },
      weights: key('weights'),
    };
  }

  async heartbeat(pod: string, weight = 1): Promise<HeartbeatReply> {
    const { pods: podsKey, due, heard, version: versionKey, weights: weightsKey } = this.#keys;
    const keys = [podsKey, due, heard, versionKey, ...this.#formatKeys(), weightsKey];
    const args = [pod, MEMBER_GONE_MS, OVERDUE_MS, MAX_OVERDUE, this.#format, weight === 1 ? '' : weight];
    const reply = this.#accepted(await SCRIPTS['heartbeat-pod'].run(this.#redis, keys, args));
    type Reply = [string, string, string[], string[], [string, string], string[]];
    const [now, version, pods, overdue, lowest, weights] = reply as Reply;
    const weightOf = new Map(pairs(weights, (name, other) => [name, { weight: other }] as const));
    return {
      now: Number(now),
      catalogVersion: Number(version),
      members: pairs(pods, (name, sinceHeardMs) => ({ pod: name, sinceHeardMs, ...weightOf.get(name) })).toSorted(
        (a, b) => (a.pod < b.pod ? -1 : 1),
      ),
      overdue: pairs(overdue, (cron, overdueMs) => ({ cron, overdueMs })),
      lowest: { process: lowest[0], format: Number(lowest[1]) },
    };
  }

  async announce(process: string): Promise<LowestFormat> {
    const keys = [this.#keys.pods, ...this.#formatKeys()];
    const args = [process, this.#format, MEMBER_GONE_MS];
    return this.#lowest(await SCRIPTS['announce-process'].run(this.#redis, keys, args));
  }

  async lowestFormat(): Promise<LowestFormat> {
    const keys = [this.#keys.pods, ...this.#formatKeys()];
    return this.#lowest(await SCRIPTS['read-formats'].run(this.#redis, keys, [this.#format, MEMBER_GONE_MS]));
  }

  #formatKeys(): string[] {
    const { writers, formats, format } = this.#keys;
    return [writers, formats, format];
  }

  #lowest(reply: unknown): LowestFormat {
    const [, process, format] = this.#accepted(reply) as [string, string, string];
    return process === '' ? { process: null, format: this.#format } : { process, format: Number(format) };
  }

  #accepted(reply: unknown): unknown[] {
    const [word, written] = reply as [string, string];
    if (word === 'REFUSED') throw new FormatBehindError(Number(written), this.#format);
    return reply as unknown[];
  }

  async leave(pod: string): Promise<void> {
    const { pods, writers, formats } = this.#keys;
    await Promise.all([pods, writers, formats].map((key) => this.#redis.zrem(key, pod)));
    await this.#redis.hdel(this.#keys.weights, pod);
  }

  async publishDue(dues: ReadonlyMap<string, number | null>): Promise<void> {
    const all = [...dues];
    const gone = all.flatMap(([cron, due]) => (due === null ? [cron] : []));
    const noted = all.flatMap(([cron, due]) => (due === null ? [] : [[due, cron] as const]));
    await Promise.all([
      ...inParts(gone).map((part) => this.#redis.zrem(this.#keys.due, ...part)),
      ...inParts(noted).map((part) => this.#redis.zadd(this.#keys.due, ...part.flat())),
    ]);
  }

  async lastHeard(): Promise<number | null> {
    const heard = await this.#redis.get(this.#keys.heard);
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
