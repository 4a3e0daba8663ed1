import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { BullmqRunQueue } from '../../libs/jobs/src/queue/bullmq-run-queue.js';
import { fencepost } from '../support/fencepost.js';
import { privateCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { redisEnvironment } from '../support/redis-place.js';

const TENANTS = ['acme', 'globex', 'hooli', 'initech', 'umbrella'];

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

async function declare(prefix: string, tenant: string): Promise<void> {
  const when = { expression: '0 0 1 1 *', timeZone: 'UTC', graceMs: 60_000, catchUpWindowMs: null };
  const definition: CronDefinition = { name: 'report', ...when, misfire: 'skip', overlap: 'skip' };
  const catalog = new RedisCatalog({ redis, prefix, tenant });
  await catalog.declare([{ definition, disabled: false }], { seq: 1, source: 'test' });
}

const around = () => ({ env: redisEnvironment({ cluster: servers.urls }) });

describe('the fencepost program on a cluster', () => {
  it('finds the tenants of all nodes', async () => {
    await Promise.all(TENANTS.map((tenant) => declare('many', tenant)));
    const { code, err } = await fencepost(['list', '--prefix', 'many'], around());
    expect(code).toBe(2);
    expect(err).toContain(TENANTS.join(', '));
  });

  it('enqueues what it is told to, where the workers of the cluster look for it', async () => {
    const space = { redis, prefix: 'one', tenant: 'acme' };
    await declare('one', 'acme');
    const told = await fencepost(['trigger', 'report', '--prefix', 'one', '--reason', 'a test', '--json'], around());
    expect(told.code, told.err).toBe(0);
    const [run] = await new RedisLedger(space).runs('report', 5);
    const queue = await BullmqRunQueue.open({ ...space, onTrouble: () => {} });
    expect(await queue.holds([{ runId: run!.id, delivery: 1 }])).toEqual(['waiting']);
    await queue.close();
  });
});
