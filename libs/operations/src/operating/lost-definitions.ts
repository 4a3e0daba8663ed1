import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { Catalog, CatalogReading } from '@fencepost/ledger/catalog';
import { PostgresCatalog } from '@fencepost/ledger/postgres';
import type { OccurrenceLog } from '@fencepost/ledger';

/** Crons that the ledger knows and of which the catalog has no definition. */
export interface LostDefinitions {
  readonly count: number;
  /** At most {@link MAX_NAMES}, by name. */
  readonly names: readonly string[];
}

export interface LostDefinitionsPorts extends KeySpace {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<OccurrenceLog, 'readCrons'>;
  readonly redis: RedisClient;
}

const MAX_NAMES = 20;
/** Of each node of Redis; an examination must end. */
const MAX_PAGES = 100;
const PAGE = 5_000;
const MAX_READ = 1_000;
/** Pods that do not know of a loss yet go on for a moment. */
const MAX_DELAY_MS = 10_000;

/**
 * Finds definitions that were lost. In PostgreSQL the catalog remembers whose tombstones it has deleted. In Redis a cron that was
 * removed long ago is told from a lost one by the birth of the catalog: since then the ledger accepted nothing of a lost cron.
 */
export async function findLostDefinitions(
  { catalog, ledger, redis, ...space }: LostDefinitionsPorts,
  { entries, unreadable = [], bornAt = null }: CatalogReading,
): Promise<LostDefinitions> {
  if (catalog instanceof PostgresCatalog) return catalog.listUndefined(MAX_NAMES);
  const known = new Set([...entries.map(({ definition }) => definition.name), ...unreadable.map(({ name }) => name)]);
  const unknown = (await cronsInRedis(redis, space)).filter((name) => !known.has(name)).toSorted();
  const asked = unknown.slice(0, MAX_READ);
  const records = asked.length === 0 ? [] : await ledger.readCrons(asked);
  const lost = asked.filter((_, n) => {
    const cursor = records[n]?.cursor ?? null;
    return cursor !== null && (bornAt === null || cursor <= bornAt + MAX_DELAY_MS);
  });
  return { count: lost.length, names: lost.slice(0, MAX_NAMES) };
}

/** The names in the keys of the ledger's records. */
async function cronsInRedis(redis: RedisClient, space: KeySpace): Promise<string[]> {
  const [head = '', tail = ''] = redisKeys(space)('ANY', 'cron').split('ANY');
  const nodes: Pick<RedisClient, 'scan'>[] = 'nodes' in redis ? redis.nodes('master') : [redis];
  const found = await Promise.all(nodes.map((node) => keysOf(node, `${head}*${tail}`)));
  return [...new Set(found.flat().map((key) => key.slice(head.length, key.length - tail.length)))];
}

async function keysOf(node: Pick<RedisClient, 'scan'>, pattern: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor = '0';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const [next, some] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE);
    keys.push(...some);
    cursor = next;
    if (cursor === '0') break;
  }
  return keys;
}
