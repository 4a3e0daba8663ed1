import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { freePort } from '../../scripts/redis.mjs';
import { privateRedis } from './redis.js';
import type { PrivateRedis } from './redis.js';

const SLOTS = 16_384;
const PRIMARIES = 3;

export interface ClusterNode {
  readonly server: PrivateRedis;
  /** A connection to this node alone. */
  readonly redis: Redis;
}

export interface PrivateCluster {
  readonly urls: readonly string[];
  /** The first three were the primaries at first, the other three follow them in the same order. */
  readonly nodes: readonly ClusterNode[];
  /** Empties each primary. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Six nodes on this machine, put together by hand: three primaries that share the slots, and a replica for each. */
export async function privateCluster(nodeTimeoutMs: number): Promise<PrivateCluster> {
  const nodes = await Promise.all(Array.from({ length: 2 * PRIMARIES }, () => startedNode(nodeTimeoutMs)));
  const [first] = nodes as [StartedNode];
  await Promise.all(nodes.slice(0, PRIMARIES).map(({ redis }, n) => redis.cluster('ADDSLOTSRANGE', ...range(n))));
  await Promise.all(
    nodes.slice(1).map(({ server, busPort }) => first.redis.cluster('MEET', '127.0.0.1', server.port, busPort)),
  );
  await everywhere(nodes, async ({ redis }) => expect(await info(redis)).toContain('cluster_known_nodes:6'));
  const ids = await Promise.all(nodes.map(({ redis }) => redis.cluster('MYID')));
  await everywhere(nodes.slice(PRIMARIES), async ({ redis }, n) => void (await redis.cluster('REPLICATE', ids[n]!)));
  await everywhere(nodes.slice(PRIMARIES), async ({ redis }) =>
    expect(await redis.info('replication')).toContain('master_link_status:up'),
  );
  await everywhere(nodes, async ({ redis }) => {
    expect(await info(redis)).toContain('cluster_state:ok');
    // Each range with its primary and its replica, as clients ask for it.
    expect((await redis.cluster('SLOTS')).map((entry) => entry.length)).toEqual([4, 4, 4]);
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

interface StartedNode extends ClusterNode {
  readonly busPort: number;
}

/** A port that was free may be taken by the time it is bound, and a node needs two; six of them are started at once. */
async function startedNode(nodeTimeoutMs: number, tries = 3): Promise<StartedNode> {
  try {
    return await startNode(nodeTimeoutMs);
  } catch (error) {
    if (tries === 1) throw error;
    return startedNode(nodeTimeoutMs, tries - 1);
  }
}

async function startNode(nodeTimeoutMs: number): Promise<StartedNode> {
  // By default it is the port plus 10,000, which may not exist.
  const busPort = await freePort();
  const server = await privateRedis({
    'cluster-enabled': 'yes',
    'cluster-announce-ip': '127.0.0.1',
    'cluster-port': `${busPort}`,
    'cluster-node-timeout': `${nodeTimeoutMs}`,
    'cluster-replica-validity-factor': '0',
    'repl-diskless-sync-delay': '0',
    // A replica is shown to clients when something has been replicated to it; the first ping is enough.
    'repl-ping-replica-period': '1',
  });
  const redis = new Redis(server.url, { retryStrategy: (times) => Math.min(100 * times, 1_000) });
  redis.on('error', () => {});
  return { server, redis, busPort };
}

function range(n: number): [number, number] {
  const start = (of: number) => Math.floor((of * SLOTS) / PRIMARIES);
  return [start(n), start(n + 1) - 1];
}

function info(redis: Redis): Promise<string> {
  return redis.cluster('INFO');
}

type Look = (node: StartedNode, n: number) => Promise<void>;

async function everywhere(nodes: readonly StartedNode[], look: Look): Promise<void> {
  await Promise.all(nodes.map((node, n) => vi.waitFor(() => look(node, n), { timeout: 20_000 })));
}
