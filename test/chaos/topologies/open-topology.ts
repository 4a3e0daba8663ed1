import type { Topology, TopologyName, TopologyOptions } from '../topology.js';
import { redisCluster } from './cluster.js';
import { sentinelRedis } from './sentinel.js';
import { singleRedis } from './single.js';

const OPEN = { single: singleRedis, sentinel: sentinelRedis, cluster: redisCluster } as const;

export function openTopology(name: TopologyName, options: TopologyOptions): Promise<Topology> {
  return OPEN[name](options);
}
