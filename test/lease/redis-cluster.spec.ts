import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, expect } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { freshPrefix } from '../support/redis.js';
import { privateCluster } from '../support/redis-cluster.js';
import type { PrivateCluster } from '../support/redis-cluster.js';

let servers: PrivateCluster;
let cluster: Cluster;

beforeAll(async () => {
  servers = await privateCluster(2_000);
  cluster = await connectRedis({ cluster: servers.urls.slice(0, 2), commandTimeoutMs: 5_000, name: 'test' });
});
afterAll(async () => {
  await closeRedis(cluster);
  await servers.stop();
});

leaseStoreContract('the Redis store on a cluster of six nodes', async () => {
  const space = { prefix: freshPrefix(), tenant: 'default' };
  const key = redisKeys(space);
  const store = new RedisLeaseStore({ redis: cluster, ...space });
  return {
    store,
    untilFree: async (resource) => {
      await expect.poll(() => store.inspect([resource]), { interval: 5, timeout: 5_000 }).toEqual([null]);
    },
    clockGoesBack: async (resource, ms) => {
      const left = await cluster.pttl(key(resource, 'lease'));
      await cluster.pexpire(key(resource, 'lease'), left + ms);
    },
    lose: () => servers.flush(),
    close: () => servers.flush(),
  };
});
