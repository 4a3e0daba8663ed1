import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { RedisLeaseStore, closeRedis, redisKeys } from '@fencepost/lease';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { freshPrefix, privateRedis } from '../support/redis.js';
import type { PrivateRedis } from '../support/redis.js';

// One node with all slots: it refuses a script over two hash tags just as a large cluster does.
let server: PrivateRedis;
let cluster: Cluster;
let node: Redis;

beforeAll(async () => {
  server = await privateRedis({ 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' });
  node = new Redis(server.url);
  await node.cluster('ADDSLOTSRANGE', 0, 16_383);
  await vi.waitFor(async () => expect(await node.cluster('INFO')).toContain('cluster_state:ok'), { timeout: 10_000 });
  cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
});
afterAll(async () => {
  await closeRedis(cluster);
  await closeRedis(node);
  await server.stop();
});

leaseStoreContract('the Redis store on a cluster', async () => {
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
    lose: async () => void (await node.flushall()),
    close: async () => void (await node.flushall()),
  };
});
