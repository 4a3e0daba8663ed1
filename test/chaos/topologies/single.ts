import { wallClocks, type WallClocks } from '../../support/faketime.js';
import { chaosRedis } from '../chaos-redis.js';
import { linkFaults } from '../faults/link-faults.js';
import { CLOCK_STEP_MS, redisClockFaults, redisLosses, redisOutages } from '../faults/redis-faults.js';
import { faultyLink } from '../faulty-link.js';
import type { Topology, TopologyOptions } from '../topology.js';

/** One server that forgets nothing by itself, and a link of its own for each pod. */
export async function singleRedis({ pods, mayLose }: TopologyOptions): Promise<Topology> {
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
