import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisJournal } from '../../libs/operations/src/journal/redis-journal.js';
import { RedisPodRegistry } from '../../libs/operations/src/pods/redis-pod-registry.js';
import { happened } from '../contracts/journal.contract.js';
import { card } from '../contracts/pod-registry.contract.js';
import { privateCluster, type PrivateCluster } from '../support/redis-cluster.js';

let servers: PrivateCluster;
let redis: Cluster;
beforeAll(async () => {
  servers = await privateCluster(5_000);
  redis = await connectRedis({ cluster: servers.urls, commandTimeoutMs: 5_000, name: 'test' });
}, 60_000);
afterAll(async () => {
  await closeRedis(redis);
  await servers.stop();
});

const space = { prefix: 'seen', tenant: 'acme' };
const crons = Array.from({ length: 20 }, (_, n) => `cron-${n}`);

describe('what can be seen of a deployment on a cluster', () => {
  it('is written at once, also when it is about crons that lie on different nodes', async () => {
    const journal = new RedisJournal({ redis, ...space });
    await journal.append(crons.map((cron) => happened('lease.lost', { cron })));
    expect((await journal.latest({ limit: 100 })).map(({ cron }) => cron)).toEqual(crons.toReversed());
    for (const cron of crons) expect(await journal.ofCron(cron, { limit: 5 })).toHaveLength(1);
    const kept = await Promise.all(redis.nodes('master').map((node) => node.keys('*:journal')));
    expect(kept.filter((keys) => keys.length > 0).length).toBeGreaterThan(1);
    expect(await journal.since(await journal.head(), 5)).toEqual([]);
  });

  it('is who is there', async () => {
    const registry = new RedisPodRegistry({ redis, ...space });
    await Promise.all(['a/1', 'b/2'].map((pod) => registry.report(card(pod))));
    expect((await registry.list()).map(({ pod }) => pod)).toEqual(['a/1', 'b/2']);
    await registry.leave('a/1');
    expect(await registry.list()).toHaveLength(1);
  });
});
