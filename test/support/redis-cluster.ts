import { Redis } from 'ioredis';
import { privateRedis } from './redis.js';
import type { PrivateRedis } from './redis.js';
import { until } from './until.js';

const SLOTS = 16_384;
const PRIMARIES = 3;

export interface ClusterNode<Server extends PrivateRedis = PrivateRedis> {
  readonly server: Server;
  /** A connection to this node alone. */
  readonly redis: Redis;
}

export interface PrivateCluster<Server extends PrivateRedis = PrivateRedis> {
  readonly urls: readonly string[];
  /** The first three were the primaries at first, the other three follow them in the same order. */
  readonly nodes: readonly ClusterNode<Server>[];
  /** Empties each primary. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Six nodes on this machine, put together by hand: three primaries that share the slots, and a replica for each. */
export function privateCluster(nodeTimeoutMs: number): Promise<PrivateCluster> {
  return privateClusterOf(privateRedis, nodeTimeoutMs);
}

type Start<Server> = (settings: Record<string, string>) => Promise<Server>;
/** What throws is looked at again, as what is not so yet. */
type Look<Node> = (node: Node, n: number) => Promise<boolean>;

/** @param start a server with these settings of redis.conf */
export async function privateClusterOf<Server extends PrivateRedis>(
  start: Start<Server>,
  nodeTimeoutMs: number,
): Promise<PrivateCluster<Server>> {
  const nodes = await Promise.all(Array.from({ length: 2 * PRIMARIES }, () => startNode(start, nodeTimeoutMs)));
  const [first] = nodes as [ClusterNode<Server>];
  await Promise.all(nodes.slice(0, PRIMARIES).map(({ redis }, n) => redis.cluster('ADDSLOTSRANGE', ...range(n))));
  await Promise.all(
    nodes.slice(1).map(({ server }) => first.redis.cluster('MEET', '127.0.0.1', server.port, server.busPort!)),
  );
  await everywhere(nodes, async ({ redis }) => (await info(redis)).includes('cluster_known_nodes:6'));
  const ids = await Promise.all(nodes.map(({ redis }) => redis.cluster('MYID')));
  // Refused until the replica has heard of its primary.
  await everywhere(
    nodes.slice(PRIMARIES),
    async ({ redis }, n) => (await redis.cluster('REPLICATE', ids[n]!)) === 'OK',
  );
  await everywhere(nodes.slice(PRIMARIES), async ({ redis }) =>
    (await redis.info('replication')).includes('master_link_status:up'),
  );
  await everywhere(nodes, async ({ redis }) => {
    if (!(await info(redis)).includes('cluster_state:ok')) return false;
    // Each range with its primary and its replica, as clients ask for it.
    const slots = await redis.cluster('SLOTS');
    return slots.length === PRIMARIES && slots.every((entry) => entry.length === 4);
  });
  return {
    urls: nodes.map(({ server }) => server.url),
    nodes,
    flush: async () => void (await Promise.all(nodes.slice(0, PRIMARIES).map(({ redis }) => redis.flushall()))),
    stop: async () => {
      for (const { redis } of nodes) redis.disconnect();
      await Promise.all(nodes.map(({ server }) => server.stop()));
    },
  };
}

async function startNode<Server extends PrivateRedis>(
  start: Start<Server>,
  nodeTimeoutMs: number,
): Promise<ClusterNode<Server>> {
  const server = await start({
    'cluster-enabled': 'yes',
    'cluster-announce-ip': '127.0.0.1',
    'cluster-node-timeout': `${nodeTimeoutMs}`,
    'cluster-replica-validity-factor': '0',
    'repl-diskless-sync-delay': '0',
    // A replica is shown to clients when something has been replicated to it; the first ping is enough.
    'repl-ping-replica-period': '1',
  });
  const redis = new Redis(server.url, { retryStrategy: (times) => Math.min(100 * times, 1_000) });
  redis.on('error', () => {});
  return { server, redis };
}

function range(n: number): [number, number] {
  const start = (of: number) => Math.floor((of * SLOTS) / PRIMARIES);
  return [start(n), start(n + 1) - 1];
}

function info(redis: Redis): Promise<string> {
  return redis.cluster('INFO');
}

async function everywhere<Node>(nodes: readonly Node[], look: Look<Node>): Promise<void> {
  await Promise.all(nodes.map((node, n) => until('the nodes are one cluster', () => look(node, n).catch(() => false))));
}
