import { Redis } from 'ioredis';
import { redisEnvironment } from '../../support/redis.js';
import { PRIMARY_NAME, sentinelStageOf, type SentinelStage } from '../../support/sentinel.js';
import { chaosRedis, type ChaosRedis } from '../chaos-redis.js';
import {
  failoverFaults,
  follows,
  lossyFailover,
  SUCCESSION_PAUSE_MS,
  type Succession,
} from '../faults/failover-faults.js';
import type { Topology, TopologyOptions } from '../topology.js';

/**
 * On a busy machine a sentinel would take a server for dead that only waits for its turn. Twice the second passes until there
 * may be another failover.
 */
const PATIENT = { 'down-after-milliseconds': '700', 'failover-timeout': '3000' };

/**
 * A primary, two replicas and three sentinels. Where nothing may be lost, nothing counts before both replicas have it: which
 * of them is chosen is not ours to say, and the choice is made by what sentinels knew some seconds ago. So a failover may lose
 * what the primary took alone also there, and whoever wrote or saw it has been told nothing.
 */
export async function sentinelRedis({ mayLose }: TopologyOptions): Promise<Topology> {
  const stage = await sentinelStageOf((settings) => chaosRedis(settings));
  for (const { host, port } of stage.sentinels) await makePatient(host, port);
  const target = { sentinel: { sentinels: stage.sentinels, name: PRIMARY_NAME } };
  const succession = successionOf(stage);
  return {
    name: 'sentinel',
    target,
    pauseMs: SUCCESSION_PAUSE_MS,
    env: () => redisEnvironment(target),
    ...(mayLose ? {} : { waitReplicas: 2 }),
    faults: [...failoverFaults(succession), lossyFailover(succession)],
    close: () => stage.stop(),
  };
}

async function makePatient(host: string, port: number): Promise<void> {
  const sentinel = new Redis(port, host);
  await sentinel.call('SENTINEL', 'SET', PRIMARY_NAME, ...Object.entries(PATIENT).flat());
  sentinel.disconnect();
}

function successionOf(stage: SentinelStage<ChaosRedis>): Succession {
  return {
    name: 'sentinel',
    primary: () => stage.primary(),
    isReplaced: async (server) => (await stage.primary()).port !== server.port,
    rejoin: async (server) => {
      const { port } = await stage.primary();
      // The sentinels would say so too, some ten seconds later.
      await server.ask((redis) => redis.replicaof('127.0.0.1', port));
      await follows(server);
      await stage.untilAgreed();
    },
  };
}
