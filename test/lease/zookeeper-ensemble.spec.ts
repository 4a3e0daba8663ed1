import { fileURLToPath } from 'node:url';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Leases } from '@fencepost/lease';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';
import { ZookeeperError, ZookeeperLeaseStore } from '@fencepost/lease/zookeeper';
import { request, win, TTL_MS } from '../support/lease-requests.js';
import { Pod } from '../support/pod.js';
import { tcpProxy, type TcpProxy } from '../support/proxies.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { byRole, privateEnsemble, type PrivateZookeeper } from '../support/zookeeper.js';

const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../programs/zookeeper-holder.ts', import.meta.url));

describe('an ensemble of three', () => {
  let ensemble: PrivateZookeeper[];
  let store: ZookeeperLeaseStore;
  let term: Awaited<ReturnType<typeof win>>;

  beforeAll(async () => {
    ensemble = await privateEnsemble(3);
  });
  afterAll(() => Promise.all(ensemble.map((server) => server.stop())));

  const addresses = () => ensemble.map(({ address }) => address);

  beforeEach(async () => {
    const { leader, followers } = await byRole(ensemble);
    // The leader first, so that whoever is asked next has to be found.
    const servers = [leader, ...followers].map(({ address }) => address);
    store = new ZookeeperLeaseStore({ servers, timeoutMs: 20_000, prefix: freshPrefix() });
    term = await win(store, { ttlMs: 3 * TTL_MS });
  });

  async function expectOneHolder(): Promise<void> {
    expect(await store.acquire(request({ holder: 'other' }))).toMatchObject({ acquired: false });
    expect(await store.renew([term], TTL_MS)).toEqual([true]);
    expect(await store.inspect(['r'])).toMatchObject([{ holder: 'pod/1', fence: term.fence }]);
  }

  it('keeps its one holder when the leader dies, and counts on', async () => {
    const { leader } = await byRole(ensemble);
    await leader.kill();
    await expectOneHolder();
    expect(await store.release([term])).toEqual([true]);
    expect((await win(store)).fence).toBeGreaterThan(term.fence);
    await leader.start();
  });

  it('keeps its one holder when the leader hangs, and when it comes back', async () => {
    const { leader } = await byRole(ensemble);
    leader.freeze();
    await expectOneHolder();
    leader.thaw();
    await expectOneHolder();
  });

  it('gives nothing to anybody while two are gone', async () => {
    const hasty = new ZookeeperLeaseStore({ servers: addresses(), timeoutMs: 1_000, prefix: freshPrefix() });
    const { followers } = await byRole(ensemble);
    await Promise.all(followers.map((server) => server.kill()));
    await expect(hasty.acquire(request())).rejects.toThrow(ZookeeperError);
    await expect(hasty.renew([term], TTL_MS)).rejects.toThrow(ZookeeperError);
    await Promise.all(followers.map((server) => server.start()));
    await expectOneHolder();
  });

  describe('and a holder that can no longer be heard', () => {
    let redis: RedisClient;
    let sink: RedisFencedValues;
    let prefix: string;
    let mine: ZookeeperLeaseStore;
    const TTL = '2s';

    beforeEach(async () => {
      prefix = freshPrefix();
      redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'sink' });
      sink = new RedisFencedValues({ redis, prefix, tenant: 'default' });
      mine = new ZookeeperLeaseStore({ servers: addresses(), prefix });
    });
    afterEach(() => closeRedis(redis));

    /** Waits as any contender does. */
    async function succeed(): ReturnType<typeof win> {
      await expect.poll(() => mine.inspect(['r']), { interval: 20, timeout: 20_000 }).toEqual([null]);
      return win(mine);
    }

    it('because it is frozen: it loses the lease, and a sink refuses its write', async () => {
      const env = { SERVERS: addresses().join(','), PREFIX: prefix, TTL, REDIS_URL: testRedis() };
      const holder = new Pod({ name: 'holder', args: [RUNNER, PROGRAM], env });
      const { fence } = await holder.waitFor('holds');
      holder.freeze();
      const successor = await succeed();
      expect(successor.fence).toBeGreaterThan(fence as number);
      await sink.set('r', 'second', { fence: successor.fence });
      holder.thaw();
      expect(await holder.waitFor('lost')).toMatchObject({ code: 'LEASE_LOST', write: 'STALE_FENCE' });
      expect(await sink.get('r')).toMatchObject({ value: 'second' });
      expect(await holder.exited).toEqual({ code: 0, signal: null });
    });

    it('because it is cut off: its signal aborts before anybody else gets in', async () => {
      const proxies: TcpProxy[] = await Promise.all(ensemble.map(({ port }) => tcpProxy(port)));
      const servers = proxies.map(({ port }) => `127.0.0.1:${port}`);
      const cutOff = new ZookeeperLeaseStore({ servers, prefix, timeoutMs: 1_000 });
      const leases = new Leases({ store: cutOff, ttl: TTL });
      const lease = await leases.acquire('r');
      for (const proxy of proxies) proxy.swallow();
      const aborted = once(lease.signal, 'abort').then(() => 'aborted');
      const next = succeed();
      expect(await Promise.race([aborted, next])).toBe('aborted');
      expect((await next).fence).toBeGreaterThan(lease.fence);
      await leases.close();
      await Promise.all(proxies.map((proxy) => proxy.close()));
    });
  });
});
