import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import {
  MAX_SHADOW_RECORDS,
  SHADOW_AGE_MS,
  type ShadowCron,
  type ShadowInterval,
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
  readonly #intervals: string;

  constructor(options: RedisShadowLogOptions) {
    this.#redis = options.redis;
    const key = redisKeys({ ...options, prefix: shadowPrefix(options.prefix) });
    this.#records = key('shadow', 'records');
    this.#since = key('shadow', 'since');
    this.#until = key('shadow', 'until');
    this.#intervals = key('shadow', 'intervals');
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

  async writeIntervals(intervals: readonly ShadowInterval[], seenAt: number): Promise<void> {
    const key = this.#intervals;
    const members = intervals.flatMap(({ name, everyMs }) => [seenAt, JSON.stringify([name, everyMs])]);
    await Promise.all([
      this.#redis.zremrangebyscore(key, '-inf', seenAt - SHADOW_AGE_MS),
      this.#redis.zadd(key, 'GT', ...members),
      this.#redis.zremrangebyrank(key, 0, -MAX_CRONS - 1),
      this.#redis.pexpire(key, SHADOW_AGE_MS),
    ]);
  }

  async read(): Promise<ShadowReading> {
    const keys = [this.#since, this.#until, this.#intervals];
    const [since = NONE, until = NONE, seen = NONE] = await Promise.all(keys.map((key) => this.#scores(key)));
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
    return {
      crons,
      intervals: [...seen.keys()].toSorted().map(intervalOf),
      records,
      droppedBefore: isCut ? oldest : null,
    };
  }

  async #scores(key: string): Promise<Map<string, number>> {
    const flat = await this.#redis.zrange(key, '0', '-1', 'WITHSCORES');
    return new Map(
      Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] ?? '', Number(flat[2 * n + 1])] as const),
    );
  }
}

const NONE: ReadonlyMap<string, number> = new Map();

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

function intervalOf(field: string): ShadowInterval {
  const [name, everyMs] = JSON.parse(field) as [string, number | null];
  return { name, everyMs };
}

function recordOf(fields: readonly string[]): ShadowRecord {
  const [, kind, , cron = '', , pod = '', , at] = fields;
  return { kind: kind as ShadowRecord['kind'], cron, pod, at: Number(at) };
}
