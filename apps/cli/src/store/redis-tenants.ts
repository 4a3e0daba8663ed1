import { redisKeys } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { UsageError } from '../exit.js';
import type { StoreAddress } from './store-options.js';

type Node = Pick<RedisClient, 'scan'>;

const DEFAULT = 'default';
const PAGE = 1_000;
const SHOWN = 20;

/**
 * The tenant that was named; else `default`; else, where that has no crons, the only one that has.
 * @throws {UsageError} where several have
 */
export async function chooseTenant(
  list: () => Promise<readonly string[]>,
  { prefix, tenant }: Pick<StoreAddress, 'prefix' | 'tenant'>,
  tell: (line: string) => void,
): Promise<string> {
  if (tenant !== null) return tenant;
  const found = await list();
  if (found.includes(DEFAULT)) return DEFAULT;
  if (found.length > 1) {
    const names = found.slice(0, SHOWN).join(', ') + (found.length > SHOWN ? ' and more' : '');
    throw new UsageError(`Expected --tenant, since ${found.length} have crons under the prefix "${prefix}": ${names}.`);
  }
  const [only = DEFAULT] = found;
  if (only !== DEFAULT) tell(`The tenant "${DEFAULT}" has no crons here; using "${only}", the only one that has.`);
  return only;
}

/** Reads the name of every key, and so only where the usual tenant has no crons: where it has some, it alone is listed. */
export async function tenantsInRedis(redis: RedisClient, prefix: string): Promise<string[]> {
  if ((await redis.exists(catalogKey(prefix, DEFAULT))) === 1) return [DEFAULT];
  // What a tenant may be called is what may stand in its place here, and no letter of it means anything to MATCH.
  const [head = '', tail = ''] = catalogKey(prefix, DEFAULT).split(DEFAULT);
  const nodes: Node[] = 'nodes' in redis ? redis.nodes('master') : [redis];
  const found = await Promise.all(nodes.map((node) => keysOf(node, `${head}*${tail}`)));
  return [...new Set(found.flat().map((key) => key.slice(head.length, key.length - tail.length)))].toSorted();
}

/** However many keys the store has: a look that costs it no more than this many pages of names. */
const MAX_PAGES = 50;

/** Where else in the store there are crons, in a sentence; `null` where a bounded look finds none. */
export async function cronsElsewhere(redis: RedisClient, { prefix, tenant }: Place): Promise<string | null> {
  const nodes: Node[] = 'nodes' in redis ? redis.nodes('master') : [redis];
  // A prefix has no brace, and no letter of the pattern is the user's.
  const pattern = catalogKey('PREFIX', 'TENANT').replace('PREFIX', '*').replace('TENANT', '*');
  const found = await Promise.all(nodes.map((node) => keysOf(node, pattern, MAX_PAGES)));
  const places = [...new Set(found.flat())].flatMap((key) => placeOf(key) ?? []);
  const others = places.filter((other) => other.prefix !== prefix || other.tenant !== tenant);
  if (others.length === 0) return null;
  const names = others.slice(0, SHOWN).map((other) => `prefix "${other.prefix}", tenant "${other.tenant}"`);
  const more = others.length > SHOWN ? ' and more' : '';
  return `This store has crons under ${names.toSorted().join('; ')}${more}. Name them with --prefix and --tenant.`;
}

interface Place {
  readonly prefix: string;
  readonly tenant: string;
}

function placeOf(key: string): Place | null {
  const [before = '', between = '', after = ''] = catalogKey('PREFIX', 'TENANT').split(/PREFIX|TENANT/);
  const at = key.indexOf(between, before.length);
  if (at < 0 || !key.endsWith(after)) return null;
  return { prefix: key.slice(before.length, at), tenant: key.slice(at + between.length, key.length - after.length) };
}

/** Each node of a cluster knows its own keys only. */
async function keysOf(node: Node, pattern: string, pages = Infinity): Promise<string[]> {
  const keys: string[] = [];
  let [cursor, left] = ['0', pages];
  do {
    left -= 1;
    const [next, page] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE);
    keys.push(...page);
    cursor = next;
  } while (cursor !== '0' && left > 0);
  return keys;
}

function catalogKey(prefix: string, tenant: string): string {
  return redisKeys({ prefix, tenant })('catalog', 'crons');
}
