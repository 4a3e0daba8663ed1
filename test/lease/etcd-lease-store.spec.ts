import { afterAll, beforeAll, expect, afterEach, beforeEach, describe, it } from 'vitest';
import { EtcdLeaseStore, EtcdError } from '@fencepost/lease/etcd';
import { NO_FENCE } from '@fencepost/lease';
import type { AcquireReply } from '@fencepost/lease/store';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { privateEtcd, type PrivateEtcd, privateEtcdCluster, askEtcd, byRole } from '../support/etcd.js';
import { freshPrefix } from '../support/redis.js';

describe('the etcd lease store', () => {
  let etcd: PrivateEtcd;

  beforeAll(async () => {
    etcd = await privateEtcd();
  });

  afterAll(() => etcd.stop());

  leaseStoreContract('the etcd store', async () => {
    const store = new EtcdLeaseStore({ endpoints: [etcd.endpoint], timeoutMs: 60_000, prefix: freshPrefix() });
    return {
      store,
      // Whole seconds, rounded up.
      coarsenessMs: 1_000,
      untilFree: async (resource) => {
        await expect.poll(() => store.inspect([resource]), { interval: 50, timeout: 15_000 }).toEqual([null]);
      },
      lose: () => etcd.restartEmpty(),
      close: async () => {},
    };
  });
});

const TTL_MS = 30_000;

const ROOT = { name: 'root', password: 'hush' };

const TERM = { resource: 'r', nonce: 'n' };

function acquire(store: EtcdLeaseStore, nonce: string): Promise<AcquireReply> {
  return store.acquire({ resource: 'r', nonce, holder: nonce, ttlMs: TTL_MS, floor: NO_FENCE });
}

describe('one etcd', () => {
  let etcd: PrivateEtcd;
  let store: EtcdLeaseStore;
  beforeEach(async () => {
    etcd = await privateEtcd();
    store = new EtcdLeaseStore({ endpoints: [etcd.endpoint] });
  });
  afterEach(() => etcd.stop());

  it('that was killed knows its leases when it is back', async () => {
    const first = await acquire(store, 'n');
    await etcd.kill();
    await etcd.start();
    expect(await store.inspect(['r'])).toMatchObject([{ holder: 'n', fence: first.acquired && first.fence }]);
    expect(await acquire(store, 'other')).toMatchObject({ acquired: false });
    expect(await store.renew([TERM], TTL_MS)).toEqual([true]);
  });

  it('that is frozen hangs nobody, and goes on when it thaws', async () => {
    const hasty = new EtcdLeaseStore({ endpoints: [etcd.endpoint], timeoutMs: 400 });
    await acquire(store, 'n');
    etcd.freeze();
    const refusal = await hasty.renew([TERM], TTL_MS).catch((error: unknown) => error);
    etcd.thaw();
    expect(refusal).toBeInstanceOf(EtcdError);
    expect(refusal).toHaveProperty('message', expect.stringContaining('did not answer in time'));
    expect(await store.renew([TERM], TTL_MS)).toEqual([true]);
  });

  it('that is gone is said to be so, with its address', async () => {
    const hasty = new EtcdLeaseStore({ endpoints: [etcd.endpoint], timeoutMs: 400 });
    await etcd.kill();
    await expect(hasty.inspect(['r'])).rejects.toThrow(`etcd at ${etcd.endpoint} (kv/txn) could not be asked`);
  });

  it.each([
    ['restarts', () => etcd.kill().then(() => etcd.start())],
    ['loses everything and counts from 1 again', () => etcd.restartEmpty()],
  ])('that %s is watched again', async (_what, happening) => {
    const heard: string[] = [];
    await countRevisions(500);
    const stop = await store.watchReleases((resource) => void heard.push(resource));
    await happening();
    const release = async () => {
      await acquire(store, 'n');
      await store.release([TERM]);
      return heard.length;
    };
    // So seldom that nobody gets to revision 500 meanwhile.
    await expect.poll(release, { interval: 200, timeout: 15_000 }).toBeGreaterThan(0);
    await stop();
  });

  /** Each write is one. */
  async function countRevisions(howMany: number): Promise<void> {
    const put = () => askEtcd(etcd, 'kv/put', { key: btoa('elsewhere'), value: btoa('any') });
    await Promise.all(Array.from({ length: howMany }, put));
  }
});

describe('an etcd with authentication', () => {
  let etcd: PrivateEtcd;
  beforeEach(async () => {
    etcd = await privateEtcd();
    await askEtcd(etcd, 'auth/user/add', ROOT);
    await askEtcd(etcd, 'auth/user/grant', { user: 'root', role: 'root' });
    await askEtcd(etcd, 'auth/enable');
  });
  afterEach(() => etcd.stop());

  it('takes name and password, also after it has declared its tokens void', async () => {
    const store = new EtcdLeaseStore({ endpoints: [etcd.endpoint], user: ROOT });
    expect(await acquire(store, 'n')).toMatchObject({ acquired: true });
    const { token } = await askEtcd(etcd, 'auth/authenticate', ROOT);
    // Whoever's password changes, also to what it was, has to show it again.
    await askEtcd(etcd, 'auth/user/changepw', { ...ROOT, token });
    expect(await store.renew([TERM], TTL_MS)).toEqual([true]);
  });

  it.each([
    ['nobody', {}],
    ['a wrong password', { user: { name: 'root', password: 'wrong' } }],
  ])('refuses %s at once, and the message holds no password', async (_whom, user) => {
    const store = new EtcdLeaseStore({ endpoints: [etcd.endpoint], ...user });
    const refusal = await acquire(store, 'n').catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'ETCD', message: expect.stringContaining('refused') });
    expect(refusal).not.toHaveProperty('message', expect.stringContaining('wrong'));
  });
});

describe('a cluster of three', () => {
  let cluster: PrivateEtcd[];
  let store: EtcdLeaseStore;
  let fence: number;

  beforeEach(async () => {
    cluster = await privateEtcdCluster(3);
    const { leader, followers } = await byRole(cluster);
    // The leader first, so that whoever is asked next has to be found.
    const endpoints = [leader, ...followers].map(({ endpoint }) => endpoint);
    store = new EtcdLeaseStore({ endpoints, timeoutMs: 12_000 });
    const reply = await acquire(store, 'n');
    fence = reply.acquired ? reply.fence : 0;
  });
  afterEach(() => Promise.all(cluster.map((member) => member.stop())));

  async function expectOneHolder(): Promise<void> {
    expect(await acquire(store, 'other')).toMatchObject({ acquired: false });
    expect(await store.renew([TERM], TTL_MS)).toEqual([true]);
    expect(await store.inspect(['r'])).toMatchObject([{ holder: 'n', fence }]);
  }

  it('keeps its one holder when the leader dies, and counts on', async () => {
    const { leader } = await byRole(cluster);
    await leader.kill();
    await expectOneHolder();
    expect(await store.release([TERM])).toEqual([true]);
    const next = await acquire(store, 'other');
    expect(next.acquired && next.fence).toBeGreaterThan(fence);
  });

  it('keeps its one holder when the leader hangs, and when it comes back', async () => {
    const { leader } = await byRole(cluster);
    leader.freeze();
    await expectOneHolder();
    leader.thaw();
    await expectOneHolder();
  });

  it('gives nothing to anybody while two are gone', async () => {
    const hasty = new EtcdLeaseStore({ endpoints: cluster.map(({ endpoint }) => endpoint), timeoutMs: 1_000 });
    const { followers } = await byRole(cluster);
    await Promise.all(followers.map((member) => member.kill()));
    await expect(acquire(hasty, 'other')).rejects.toThrow(EtcdError);
    await expect(hasty.renew([TERM], TTL_MS)).rejects.toThrow(EtcdError);
    await Promise.all(followers.map((member) => member.start()));
    await expectOneHolder();
  });
});
