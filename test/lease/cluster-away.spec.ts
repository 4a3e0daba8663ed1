import { afterEach, expect, it } from 'vitest';
import { closeRedis } from '@fencepost/lease';
import { BoundedCluster } from '../../libs/lease/src/redis/redis-clients.js';
import { freePort } from '../../scripts/redis.mjs';

let cluster: BoundedCluster;
afterEach(() => closeRedis(cluster));

it('a cluster that is gone lets no command wait for ever', { timeout: 3_000 }, async () => {
  const nodes = [{ host: '127.0.0.1', port: await freePort() }];
  cluster = new BoundedCluster(nodes, { lazyConnect: true, clusterRetryStrategy: () => 50 }, 200);
  cluster.on('error', () => {});
  await expect(cluster.get('x')).rejects.toThrow('Command timed out');
});
