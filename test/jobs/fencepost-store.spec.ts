import { afterEach, describe, expect, it, afterAll, beforeAll } from 'vitest';
import type { Cluster } from 'ioredis';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { BullmqRunQueue } from '@fencepost/jobs/internal';
import { StoreError, UsageError } from '../../apps/cli/src/exit.js';
import { withStore } from '../../apps/cli/src/store/store.js';
import { storeAddress } from '../../apps/cli/src/store/store-options.js';
import type { World } from '../../apps/cli/src/world.js';
import { declared, FencepostDeployment, fencepost } from '../support/fencepost.js';
import { privateRedis, testRedis, type PrivateRedis, redisEnvironment } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';
import { privateCluster, type PrivateCluster } from '../support/redis-cluster.js';

const world = { env: {}, err: () => {} } as Partial<World> as World;

describe('the stores that fencepost connects to', () => {
  const spaces = redisSpaces();

  let own: PrivateRedis | undefined;

  afterEach(async () => {
    await own?.stop();
    own = undefined;
  });

  describe('the store of the fencepost program', () => {
    it('is what the options say, else the environment, else what is usual', () => {
      const env = { REDIS_URL: 'redis://there:1', FENCEPOST_PREFIX: 'app', FENCEPOST_TENANT: 'acme' };
      const flags = { redis: 'redis://here:2', prefix: 'mine', tenant: 'me' };
      expect(storeAddress(flags, { env })).toEqual({
        ...{ redis: { url: 'redis://here:2' }, prefix: 'mine', tenant: 'me' },
        ...{ database: null, leases: 'redis', waitReplicas: 0 },
      });
      expect(storeAddress({}, { env })).toEqual({
        ...{ redis: { url: 'redis://there:1' }, prefix: 'app', tenant: 'acme' },
        ...{ database: null, leases: 'redis', waitReplicas: 0 },
      });
      const there = { redis: { url: 'redis://localhost:6379' }, database: null, leases: 'redis', waitReplicas: 0 };
      const usual = { ...there, prefix: 'fencepost', tenant: null };
      expect(storeAddress({}, { env: {} })).toEqual(usual);
      expect(storeAddress({}, { env: { REDIS_URL: '', FENCEPOST_PREFIX: '', FENCEPOST_TENANT: '' } })).toEqual(usual);
    });

    it('may be in the Redis of sentinels or of a cluster, unless an option names another', () => {
      const env = { REDIS_CLUSTER: 'redis://a,redis://b' };
      const sentinels = { REDIS_SENTINELS: 'a:1', REDIS_SENTINEL_NAME: 'mymaster' };
      expect(storeAddress({}, { env }).redis).toEqual({ cluster: ['redis://a', 'redis://b'] });
      expect(storeAddress({}, { env: sentinels }).redis).toEqual({
        sentinel: { sentinels: [{ host: 'a', port: 1 }], name: 'mymaster' },
      });
      expect(storeAddress({ redis: 'redis://here' }, { env: { ...env, ...sentinels } }).redis).toEqual({
        url: 'redis://here',
      });
      expect(() => storeAddress({}, { env: { ...env, ...sentinels } })).toThrow(UsageError);
    });

    it('waits for as many replicas as the pods do, and says so where they are not there', async () => {
      const replicasIn = (text: string) => storeAddress({}, { env: { FENCEPOST_WAIT_REPLICAS: text } }).waitReplicas;
      expect([replicasIn(''), replicasIn('2')]).toEqual([0, 2]);
      for (const text of ['-1', 'two', '101', '1.5']) expect(() => replicasIn(text)).toThrow(UsageError);

      const space = { redis: spaces.redis(), ...spaces.fresh() };
      const deployment = await FencepostDeployment.of(space, [declared('nightly')]);
      const around = { env: { ...deployment.env, FENCEPOST_WAIT_REPLICAS: '1' } };
      const said = await fencepost(['pause', 'nightly', '--reason', 'a move'], around);
      expect(said).toMatchObject({ code: 3 });
      expect(said.err).toContain('Expected 1 replica(s) to acknowledge a write within 2500 ms, 0 did.');
    });

    it('has its ledger in PostgreSQL where that is said, and not for any DATABASE_URL', () => {
      const url = 'postgres://there/shop';
      const databaseOf = (flags: object, env: Record<string, string>) => storeAddress(flags, { env }).database;
      expect(databaseOf({}, { DATABASE_URL: url })).toBeNull();
      expect(databaseOf({}, { DATABASE_URL: url, FENCEPOST_LEDGER: 'postgres' })).toEqual({ url, schema: 'fencepost' });
      const here = { postgres: 'postgres://here/shop', schema: 'jobs' };
      expect(databaseOf(here, { DATABASE_URL: url })).toEqual({ url: here.postgres, schema: 'jobs' });
      expect(() => databaseOf({ postgres: 'mysql://anna:secret@here' }, {})).toThrow(/got "mysql:\/\/\*\*\*@here"/);
      expect(() => databaseOf({}, { FENCEPOST_LEDGER: 'postgres' })).toThrow(UsageError);
    });

    it('shows no password of an address that is none', () => {
      expect(() => storeAddress({ redis: 'http://anna:secret@here' }, { env: {} })).toThrow(
        /redis:\/\/ or rediss:\/\/ address, got "http:\/\/\*\*\*@here"/,
      );
    });

    it('is not dialled for a prefix or a tenant that can not be', async () => {
      const redis = 'redis://127.0.0.1:1';
      const dialled = (flags: object) => withStore({ redis, ...flags }, world, async () => true);
      await expect(dialled({ prefix: 'a b' })).rejects.toThrow(UsageError);
      await expect(dialled({ tenant: 'a:b' })).rejects.toThrow(UsageError);
      await expect(dialled({})).rejects.toThrow(StoreError);
    });

    it('is away when it dies while it is read, and nothing is said of orders', async () => {
      own = await privateRedis();
      const redis = own;
      const dying = withStore({ redis: redis.url }, world, async ({ catalog }) => {
        await redis.stop();
        return catalog.read();
      });
      await expect(dying).rejects.toThrow(
        /^Redis at redis:.* stopped answering .*\. Check that the server is reachable, and repeat/,
      );
      await expect(dying).rejects.toThrow(StoreError);
    });

    it('is left without a trace of a queue by whoever only looks', async () => {
      const { prefix } = spaces.fresh();
      const { code } = await fencepost(['list', '--redis', testRedis(), '--prefix', prefix]);
      expect(code).toBe(0);
      expect(await spaces.redis().keys(`*${prefix}*`)).toEqual([]);
    });
  });
});

const TENANTS = ['acme', 'globex', 'hooli', 'initech', 'umbrella'];

describe('the fencepost program on a cluster', () => {
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
    await catalog.declare([{ definition, disabled: false }], { revision: 1, app: 'test' });
  }

  const around = () => ({ env: redisEnvironment({ cluster: servers.urls }) });

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
