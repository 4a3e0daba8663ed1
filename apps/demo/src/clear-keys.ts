import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { connectRedis } from '@fencepost/lease/redis';

type Redis = Awaited<ReturnType<typeof connectRedis>>;

const PAGE = 1_000;

/**
 * Removes every key of this prefix and tenant, those of BullMQ included, which begin with `{prefix:tenant}`. The keys of
 * others on the same Redis, other tenants of the prefix among them, are looked at by name and left alone.
 */
export async function clearKeys(redis: Redis, { prefix, tenant }: KeySpace): Promise<number> {
  const own = [`${prefix}:v1:{${tenant}:`, `{${prefix}:${tenant}}`];
  let [cursor, cleared] = ['0', 0];
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', PAGE);
    const keys = found.filter((key) => own.some((start) => key.startsWith(start)));
    if (keys.length > 0) cleared += await redis.unlink(keys);
    cursor = next;
  } while (cursor !== '0');
  return cleared;
}
