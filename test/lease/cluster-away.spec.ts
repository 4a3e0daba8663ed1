import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { closeRedis } from '@fencepost/lease/redis';
import { BoundedCluster } from '../../libs/lease/src/redis/redis-clients.js';
import { freePort } from '../../scripts/redis.mjs';
import { privateRedis } from '../support/redis.js';

let cluster: BoundedCluster;
afterEach(() => closeRedis(cluster));

it('a cluster that is gone lets no command wait for ever', { timeout: 3_000 }, async () => {
  const nodes = [{ host: '127.0.0.1', port: await freePort() }];
  cluster = new BoundedCluster(nodes, { lazyConnect: true, clusterRetryStrategy: () => 50 }, 200);
  cluster.on('error', () => {});
  await expect(cluster.get('x')).rejects.toThrow('Command timed out');
});

it('a cluster that is not whole leaves nobody waiting who connects, and is there when it is', async () => {
  const server = await privateRedis({
    ...{ 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1', 'cluster-port': `${await freePort()}` },
  });
  const node = new Redis(server.url);
  try {
    await node.cluster('ADDSLOTSRANGE', 0, 100);
    const nodes = [{ host: '127.0.0.1', port: server.port }];
    cluster = new BoundedCluster(nodes, { lazyConnect: true, clusterRetryStrategy: () => 50 }, 5_000);
    cluster.on('error', () => {});
    await expect(cluster.connect()).rejects.toThrow('not whole');
    await node.cluster('ADDSLOTSRANGE', 101, 16_383);
    await expect.poll(() => cluster.get('x').catch(() => 'away'), { timeout: 20_000 }).toBeNull();
  } finally {
    node.disconnect();
    await closeRedis(cluster);
    await server.stop();
  }
});
