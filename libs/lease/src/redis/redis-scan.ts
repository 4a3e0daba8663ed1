import type { Cluster, Redis } from 'ioredis';
import { checkedCursor, heldOf } from '../store/holdings-page.js';
import { redisKeys, type KeySpace } from '../store/keys.js';
import type { HoldingsPage, LeaseStore } from '../store/lease-store.js';
import type { RedisClient } from './redis-script.js';

/** The names of some resources, and where to go on; `null` after the last. */
export interface ResourcePage {
  readonly resources: readonly string[];
  readonly next: string | null;
}

export interface ScanOptions {
  /** `null` for the first page, else `next` of the page before. */
  readonly after: string | null;
  /** About how many keys to look at, whatever they hold. */
  readonly limit: number;
}

/** On a cluster the node in front, and always the cursor of SCAN. */
const CURSOR = /^(?:(?<address>\S+) )?(?<scan>\d{1,20})$/;

/**
 * The resources that have a key of this part, one SCAN of one primary at a time. A name may come twice, and one that moves
 * between two primaries meanwhile may be missed.
 * @throws {RangeError} for a cursor that can't be one
 */
export async function scanResources(
  redis: RedisClient,
  { part, ...space }: KeySpace & { readonly part: string },
  { after, limit }: ScanOptions,
): Promise<ResourcePage> {
  const { address = '', scan = '0' } = checkedCursor(CURSOR, after ?? '0');
  const nodes = await primaries(redis);
  // One that is gone by now is passed over: the next in order is begun.
  const at = nodes.findIndex((node) => node.address >= address);
  const node = nodes[at];
  if (!node) return { resources: [], next: null };
  const [head = '', tail = ''] = redisKeys(space)('ANY', part).split('ANY');
  const from = node.address === address ? scan : '0';
  // No letter of a prefix or a tenant means anything to MATCH.
  const [to, keys] = await node.redis.scan(from, 'MATCH', `${head}*${tail}`, 'COUNT', limit);
  const resources = keys.map((key) => key.slice(head.length, key.length - tail.length));
  if (to !== '0') return { resources, next: cursorOf(node, to) };
  const following = nodes[at + 1];
  return { resources, next: following ? cursorOf(following, '0') : null };
}

/** {@link scanResources} with what `inspect` says of each; the free ones are left out. */
export async function scanHoldings(
  redis: RedisClient,
  space: KeySpace & { readonly part: string },
  { inspect, ...page }: ScanOptions & Pick<LeaseStore, 'inspect'>,
): Promise<HoldingsPage> {
  const { resources, next } = await scanResources(redis, space, page);
  return { items: heldOf(resources, await inspect(resources)), next };
}

interface Primary {
  /** Empty where there is only one. */
  readonly address: string;
  readonly redis: Pick<Redis, 'scan'>;
}

/** In the order of their addresses, so that a cursor finds its place again. */
async function primaries(redis: RedisClient): Promise<readonly Primary[]> {
  if (!redis.isCluster) return [{ address: '', redis }];
  // It knows its nodes once it is connected, which a connection for reads is from its first command on.
  if (redis.status !== 'ready') await redis.ping();
  const nodes = (redis as Cluster).nodes('master').map((node) => {
    const { host = '', port = 0 } = node.options;
    return { address: `${host}:${port}`, redis: node };
  });
  return nodes.toSorted((a, b) => (a.address < b.address ? -1 : 1));
}

function cursorOf({ address }: Primary, scan: string): string {
  return address === '' ? scan : `${address} ${scan}`;
}
