import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import {
  MAX_SHADOW_RECORDS,
  SHADOW_AGE_MS,
  type ShadowCron,
  type ShadowLog,
  type ShadowReading,
  type ShadowRecord,
  type WatchedCron,
} from './shadow-log.js';

export interface RedisShadowLogOptions extends KeySpace {
  /** The caller closes it. */
  readonly redis: RedisClient;
}

const PAGE = 5_000;

/** More crons than any program has; names made at run time may be as many as they like. */
const MAX_CRONS = 10_000;

/** A stream of records, which Redis cuts itself, and two sorted sets: since when and until when each cron is watched. */
export class RedisShadowLog implements ShadowLog {
  readonly #redis: RedisClient;
  readonly #records: string;
  readonly #since: string;
  readonly #until: string;

  constructor(options: RedisShadowLogOptions) {
    this.#redis = options.redis;
    const key = redisKeys({ ...options, prefix: shadowPrefix(options.prefix) });
    this.#records = key('shadow', 'records');
    this.#since = key('shadow', 'since');
    this.#until = key('shadow', 'until');
  }

  async write(crons: readonly WatchedCron[], records: readonly ShadowRecord[]): Promise<void> {
    const redis = this.#redis;
    const work: Promise<unknown>[] = records.map(({ kind, cron, pod, at }) =>
      redis.xadd(this.#records, 'MAXLEN', '~', MAX_SHADOW_RECORDS, '*', 'k', kind, 'c', cron, 'p', pod, 'a', at),
    );
    const [first] = crons;
    if (first) {
      const old = first.until - SHADOW_AGE_MS;
      work.push(
        redis.xtrim(this.#records, 'MINID', '~', old),
        // A cron that nobody has seen for long is watched anew.
        redis.zremrangebyscore(this.#until, '-inf', old),
        redis.zadd(this.#since, 'NX', ...crons.flatMap((cron) => [cron.since, fieldOf(cron)])),
        redis.zadd(this.#until, 'GT', ...crons.flatMap((cron) => [cron.until, fieldOf(cron)])),
        ...[this.#since, this.#until].map((key) => redis.zremrangebyrank(key, 0, -MAX_CRONS - 1)),
        ...[this.#records, this.#since, this.#until].map((key) => redis.pexpire(key, SHADOW_AGE_MS)),
      );
    }
    await Promise.all(work);
  }

  async read(): Promise<ShadowReading> {
    const [since, until] = await Promise.all([this.#scores(this.#since), this.#scores(this.#until)]);
    const records: ShadowRecord[] = [];
    let oldest: number | null = null;
    for (let from = '-'; ;) {
      const page = await this.#redis.xrange(this.#records, from, '+', 'COUNT', PAGE);
      for (const [, fields] of page) records.push(recordOf(fields));
      const last = page.at(-1)?.[0];
      oldest ??= page[0] ? Number(page[0][0].split('-')[0]) : null;
      if (page.length < PAGE || last === undefined) break;
      from = `(${last}`;
    }
    const crons = [...until].map(([field, at]) => ({
      ...cronOf(field),
      since: Math.max(since.get(field) ?? at, at - SHADOW_AGE_MS),
      until: at,
    }));
    // Redis cuts whole blocks: a stream near its cap has lost some.
    const isCut = records.length >= MAX_SHADOW_RECORDS;
    return { crons, records, droppedBefore: isCut ? oldest : null };
  }

  async #scores(key: string): Promise<Map<string, number>> {
    const flat = await this.#redis.zrange(key, '0', '-1', 'WITHSCORES');
    return new Map(
      Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] ?? '', Number(flat[2 * n + 1])] as const),
    );
  }
}

/** Apart from the keys of a deployment, so that neither sees the other. */
export function shadowPrefix(prefix: string): string {
  return `${prefix}.shadow`;
}

/** An expression that a deploy changed is another one to watch. */
function fieldOf({ name, expression, timeZone }: ShadowCron): string {
  return JSON.stringify([name, expression, timeZone]);
}

function cronOf(field: string): Omit<WatchedCron, 'since' | 'until'> {
  const [name, expression, timeZone] = JSON.parse(field) as [string, string, string];
  return { name, expression, timeZone };
}

function recordOf(fields: readonly string[]): ShadowRecord {
  const [, kind, , cron = '', , pod = '', , at] = fields;
  return { kind: kind as ShadowRecord['kind'], cron, pod, at: Number(at) };
}
