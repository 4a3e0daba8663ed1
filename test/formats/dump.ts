import type { Redis } from 'ioredis';

type Fields = Record<string, string>;

/** Keys without their prefix, each with what it holds. */
export type Dump = Record<
  string,
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'hash' | 'zset'; readonly value: Fields }
  | { readonly type: 'stream'; readonly value: readonly (readonly [id: string, fields: string[]])[] }
>;

export async function dumpKeys(redis: Redis, prefix: string): Promise<Dump> {
  const dump: Dump = {};
  for (const key of (await redis.keys(`${prefix}:*`)).toSorted()) {
    dump[key.slice(prefix.length)] = await dumpKey(redis, key);
  }
  return dump;
}

async function dumpKey(redis: Redis, key: string): Promise<Dump[string]> {
  const type = await redis.type(key);
  if (type === 'string') return { type, value: (await redis.get(key)) ?? '' };
  if (type === 'hash') return { type, value: await redis.hgetall(key) };
  if (type === 'stream') return { type, value: await redis.xrange(key, '-', '+') };
  if (type !== 'zset') throw new Error(`Expected a string, hash, sorted set or stream at ${key}, got ${type}.`);
  const flat = await redis.zrange(key, '0', '-1', 'WITHSCORES');
  const members = flat.flatMap((member, at) => (at % 2 === 0 ? [[member, flat[at + 1] ?? ''] as const] : []));
  return { type, value: Object.fromEntries(members) };
}

export async function restoreKeys(redis: Redis, prefix: string, dump: Dump): Promise<void> {
  for (const [part, kept] of Object.entries(dump)) {
    const key = `${prefix}${part}`;
    if (kept.type === 'string') await redis.set(key, kept.value);
    else if (kept.type === 'hash') await redis.hset(key, kept.value);
    else if (kept.type === 'stream') for (const [id, fields] of kept.value) await redis.xadd(key, id, ...fields);
    else await redis.zadd(key, ...Object.entries(kept.value).flatMap(([member, score]) => [score, member]));
  }
}
