import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { closeRedis } from '@fencepost/lease/redis';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { semaphoreStoreContract } from '../contracts/semaphore-store.contract.js';
import { freePort } from '../../scripts/redis.mjs';
import { redisSemaphoreHarness } from './redis-semaphore.js';
import { freshPrefix, privateRedis, type PrivateRedis } from '../support/redis.js';

// One node with all slots: it refuses a script over two hash tags just as a large cluster does.
let server: PrivateRedis;
let cluster: Cluster;
let node: Redis;

beforeAll(async () => {
  server = await privateRedis({
    'cluster-enabled': 'yes',
    'cluster-announce-ip': '127.0.0.1',
    // By default it is the port plus 10,000, which may not exist.
    'cluster-port': `${await freePort()}`,
  });
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

async function harness() {
  const forget = async () => void (await node.flushall());
  return redisSemaphoreHarness({ redis: cluster, prefix: freshPrefix(), tenant: 'default', forget });
}

semaphoreStoreContract('the Redis semaphore on a cluster', harness);
leaseStoreContract('the Redis semaphore with one place on a cluster', harness);
