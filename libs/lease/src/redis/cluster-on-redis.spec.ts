import { type Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, expect, afterEach, it, describe } from 'vitest';
import { redisKeys } from '../store/keys.js';
import { loadScripts } from './redis-script.js';
import { RedisLeaseStore } from './redis-lease-store.js';
import { closeRedis, connectRedis } from './redis-connection.js';
import { SetupError } from '../base/errors.js';
import { type Fence } from '../base/fence.js';
import type { Term } from '../store/grant.js';
import { leaseStoreContract } from '../../../../test/contracts/lease-store.contract.js';
import { freshPrefix, privateRedis } from '../../../../test/support/redis.js';
import { privateCluster, type PrivateCluster } from '../../../../test/support/redis-cluster.js';
import { BoundedCluster } from './redis-clients.js';
import { freePort } from '../../../../scripts/redis.mjs';
import { waitForReplicas } from './replicated-write.js';
import { request, win } from '../../../../test/support/lease-requests.js';
import { recordedWarnings } from '../../../../test/support/recorded.js';
import { TEXTS } from '../lua/texts.js';

describe('the lease store on a Redis Cluster', () => {
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
});

describe('a Redis Cluster that is away', () => {
  let cluster: BoundedCluster;

  afterEach(() => closeRedis(cluster));

  it('a cluster that is gone lets no command wait for ever', { timeout: 3_000 }, async () => {
    const nodes = [{ host: '127.0.0.1', port: await freePort() }];
    cluster = new BoundedCluster(nodes, { lazyConnect: true, clusterRetryStrategy: () => 50 }, 200);
    cluster.on('error', () => {});
    await expect(cluster.get('x')).rejects.toThrow('Command timed out');
  });

  it('a cluster that is not whole leaves nobody waiting who connects, and is there when it is', async () => {
    const server = await privateRedis({ 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' });
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
});

const NODE_TIMEOUT_MS = 1_000;

const COMMAND_TIMEOUT_MS = 500;

/** Far beyond a failover, so that a lease that is gone afterwards was lost and has not ended. */
const TTL_MS = 60_000;

const settings = { commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'test' };

const space = { prefix: 'p', tenant: 't' };

describe('a failover of a Redis Cluster', () => {
  const SCRIPTS = loadScripts(TEXTS, ['acquire-lease']);

  const key = redisKeys(space);

  let servers: PrivateCluster;

  beforeAll(async () => {
    servers = await privateCluster(NODE_TIMEOUT_MS);
  });

  afterAll(() => servers.stop());

  describe('connectRedis to a cluster', () => {
    it('says that the server is not one', async () => {
      const single = await privateRedis();
      const error: unknown = await connectRedis({ ...settings, cluster: [single.url] }).catch((e: unknown) => e);
      await single.stop();
      expect(error).toBeInstanceOf(SetupError);
      expect(error).toHaveProperty('message', expect.stringContaining('it is not a cluster'));
    });

    it('refuses it when one of its primaries evicts', async () => {
      const { redis } = servers.nodes[1]!;
      await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
      const error: unknown = await connectRedis({ ...settings, cluster: servers.urls }).catch((e: unknown) => e);
      await redis.config('SET', 'maxmemory-policy', 'noeviction');
      expect(error).toHaveProperty(
        'message',
        expect.stringMatching(/noeviction on the Redis at 127\.0\.0\.1:\d+, found/),
      );
    });
  });

  describe('a cluster that loses the owner of a slot', () => {
    const warnings = recordedWarnings();
    let cluster: Cluster;
    let store: RedisLeaseStore;

    beforeAll(async () => {
      cluster = await connectRedis({ ...settings, cluster: servers.urls, observe: warnings.observe });
      store = new RedisLeaseStore({ redis: cluster, ...space });
    });
    afterAll(() => closeRedis(cluster));

    /** Which of the three first nodes owns the slot of a resource's keys. */
    async function ownerOf(resource: string): Promise<number> {
      const slot = await cluster.cluster('KEYSLOT', key(resource, 'lease'));
      return Math.floor((3 * (slot + 1)) / 16_385);
    }

    /** A resource for each owner. */
    async function resources(): Promise<string[]> {
      const found: string[] = [];
      for (let n = 0; found.filter(Boolean).length < 3; n++) found[await ownerOf(`r${n}`)] ??= `r${n}`;
      return found;
    }

    it('goes on renewing all other leases; its own has one holder, and a larger fence with the next', async () => {
      const [of0, of1, of2] = (await resources()) as [string, string, string];
      const before = await win(store, { resource: of1, ttlMs: TTL_MS });
      const others: (Term & { fence: Fence })[] = [];
      for (const resource of [of0, of2]) others.push(await win(store, { resource, ttlMs: TTL_MS }));
      expect(await waitForReplicas(cluster, acquireAgain(others[0]!))).toMatch(/^ACQUIRED \d+$/);

      await servers.nodes[1]!.server.stop();
      let rounds = 0;
      const alive = async () => {
        expect(await store.renew(others, TTL_MS)).toEqual([true, true]);
        rounds += 1;
        return store.inspect([of1]).then(
          () => 'back',
          () => 'away',
        );
      };
      await expect.poll(alive, { interval: 50, timeout: 25_000 }).toBe('back');
      expect(rounds).toBeGreaterThan(1);

      // Kept or lost: both may happen. One holder at most, and no fence that was seen before.
      const [kept] = await store.renew([before], TTL_MS);
      const asked = await store.acquire(request({ resource: of1 }));
      expect(asked.acquired).toBe(!kept);
      await store.release([before]);
      const after = asked.acquired ? asked.fence : (await win(store, { resource: of1 })).fence;
      expect(after).toBeGreaterThan(before.fence);
      await expect.poll(() => warnings.codes).toContain('HISTORY_LOST');
    });

    it('finds the new owner also when the old one is frozen and closes nothing', async () => {
      const [, , of2] = (await resources()) as [string, string, string];
      servers.nodes[2]!.server.freeze();
      const back = () =>
        store.inspect([of2]).then(
          () => 'back',
          () => 'away',
        );
      await expect.poll(back, { timeout: 10_000 }).toBe('away');
      await expect.poll(back, { timeout: 20_000 }).toBe('back');
    });

    function acquireAgain({ resource, nonce }: Term) {
      const { holder, floor } = request();
      return {
        script: SCRIPTS['acquire-lease'],
        keys: [key(resource, 'lease'), key(resource, 'fence')],
        args: [`${nonce} ${TTL_MS} ${floor} ${holder}`],
        replicas: 1,
        timeoutMs: 400,
      };
    }
  });
});
