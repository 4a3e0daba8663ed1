import { privateClusterOf, type PrivateCluster } from '../../support/redis-cluster.js';
import { redisEnvironment } from '../../support/redis-place.js';
import { chaosRedis, type ChaosRedis } from '../chaos-redis.js';
import { failoverFaults, follows, SUCCESSION_PAUSE_MS, type Succession } from '../faults/failover-faults.js';
import type { Topology, TopologyOptions } from '../topology.js';

const NODE_TIMEOUT_MS = 2_000;

/** Three primaries and a replica of each. Where nothing may be lost, nothing counts before the replica has it. */
export async function redisCluster({ mayLose }: TopologyOptions): Promise<Topology> {
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
