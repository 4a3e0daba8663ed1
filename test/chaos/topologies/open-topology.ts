import type { Topology, TopologyName, TopologyOptions } from '../topology.js';
import { sentinelRedis } from './sentinel.js';
import { privateClusterOf, type PrivateCluster } from '../../support/redis-cluster.js';
import { redisEnvironment } from '../../support/redis.js';
import { chaosRedis, type ChaosRedis } from '../chaos-redis.js';
import { failoverFaults, follows, SUCCESSION_PAUSE_MS, type Succession } from '../faults/failover-faults.js';
import { wallClocks, type WallClocks } from '../../support/faketime.js';
import { linkFaults } from '../faults/link-faults.js';
import { CLOCK_STEP_MS, redisClockFaults, redisLosses, redisOutages } from '../faults/redis-faults.js';
import { faultyLink } from '../faulty-link.js';

const NODE_TIMEOUT_MS = 2_000;

/** Three primaries and a replica of each. Where nothing may be lost, nothing counts before the replica has it. */
async function redisCluster({ mayLose }: TopologyOptions): Promise<Topology> {
  const cluster = await privateClusterOf((settings) => chaosRedis(settings), NODE_TIMEOUT_MS);
  const target = { cluster: cluster.urls };
  return {
    name: 'cluster',
    target,
    pauseMs: SUCCESSION_PAUSE_MS,
    env: () => redisEnvironment(target),
    ...(mayLose ? {} : { waitReplicas: 1 }),
    faults: failoverFaults(successionOf(cluster)),
    close: () => cluster.stop(),
  };
}

function successionOf({ nodes }: PrivateCluster<ChaosRedis>): Succession {
  const isPrimary = async ({ redis }: (typeof nodes)[number]) => {
    const role = (await redis.call('ROLE')) as string[];
    return role[0] === 'master';
  };
  /** As a node sees it that isn't the one in question. */
  const seenFrom = async (server: ChaosRedis) => {
    const other = nodes.find((node) => node.server !== server)!;
    const lines = ((await other.redis.cluster('NODES')) as string).split('\n');
    return lines.find((line) => line.includes(`:${server.port}@`)) ?? '';
  };
  return {
    name: 'cluster',
    primary: async (random) => {
      const asked = await Promise.all(nodes.map(async (node) => ((await isPrimary(node)) ? [node.server] : [])));
      const primaries = asked.flat();
      return primaries[Math.floor(random() * primaries.length)]!;
    },
    // Whoever has no slots any more is replaced: another one has them.
    isReplaced: async (server) => !/connected \d+/.test(await seenFrom(server)),
    // By itself: it hears from the others that somebody else has its slots.
    rejoin: follows,
  };
}

const OPEN = { single: singleRedis, sentinel: sentinelRedis, cluster: redisCluster } as const;

export function openTopology(name: TopologyName, options: TopologyOptions): Promise<Topology> {
  return OPEN[name](options);
}

/** One server that forgets nothing by itself, and a link of its own for each pod. */
async function singleRedis({ pods, mayLose }: TopologyOptions): Promise<Topology> {
  const clocks = await steppable();
  const redis = await chaosRedis({}, clocks?.clock());
  const links = new Map(await Promise.all(pods.map(async (pod) => [pod, await faultyLink(redis.port)] as const)));
  return {
    name: 'single',
    target: { url: redis.url },
    pauseMs: { least: 300, most: 1_200 },
    env: (pod) => ({ REDIS_URL: `redis://127.0.0.1:${links.get(pod)?.port}` }),
    clockErrorMs: redis.clock ? CLOCK_STEP_MS.most : 0,
    faults: [
      ...redisOutages(redis),
      ...redisClockFaults(redis),
      ...linkFaults('redis', () => [...links.values()]),
      ...(mayLose ? redisLosses(redis) : []),
    ],
    close: async () => {
      await Promise.all([...links.values()].map((link) => link.close()));
      await redis.stop();
      clocks?.close();
    },
  };
}

/** A server's clock can be stepped on Linux only, and where there is a compiler. */
async function steppable(): Promise<WallClocks | undefined> {
  try {
    return await wallClocks();
  } catch (error) {
    console.error(`No clock of a server is stepped in this run: ${(error as Error).message}`);
    return undefined;
  }
}
