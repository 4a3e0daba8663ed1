import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LeaseStore, SetupError } from '@fencepost/lease';
import { ZookeeperError, ZookeeperLeaseStore, type ZookeeperOptions } from '@fencepost/lease/zookeeper';
import { freePort } from '../../scripts/redis.mjs';
import { ABOVE_THE_CLOCK, request, TTL_MS, win } from '../support/lease-requests.js';
import { replyDroppingProxy, type ReplyDroppingProxy } from '../support/proxies.js';
import { freshPrefix } from '../support/redis.js';
import {
  connectAfter,
  connectAnew,
  privateZookeeper,
  type PrivateZookeeper,
  sessionsOf,
} from '../support/zookeeper.js';

/** In every packet that puts a term, and in one that ends a term. */
const PUTS = '"nonce"';
const ENDS = '/released/';

let zookeeper: PrivateZookeeper;
let prefix: string;
/** Somebody else, whom nothing holds up. */
let other: ZookeeperLeaseStore;

beforeAll(async () => {
  zookeeper = await privateZookeeper();
});
beforeEach(() => {
  prefix = freshPrefix();
  other = storeWith({});
});
afterAll(() => zookeeper.stop());

function storeWith(over: Partial<ZookeeperOptions>): ZookeeperLeaseStore {
  return new ZookeeperLeaseStore({ servers: [zookeeper.address], timeoutMs: 20_000, prefix, ...over });
}

const heldUp = (text: string, happening: () => Promise<unknown>) =>
  storeWith({ connect: connectAfter(text, happening) });
const holding = async (store: LeaseStore = other) => (await store.inspect(['r']))[0];

async function replace(): Promise<void> {
  await expect.poll(() => other.inspect(['r']), { interval: 20, timeout: 15_000 }).toEqual([null]);
  await win(other, { holder: 'successor', nonce: 'successor' });
}

describe('what happens between a look at ZooKeeper and the transaction', () => {
  it.each([
    ['the first', 0],
    ['a later', 1],
  ])('gives nobody a fence that somebody had for a moment, as %s term of a resource', async (_which, before) => {
    for (let n = 0; n < before; n += 1) await other.release([await win(other, { floor: ABOVE_THE_CLOCK })]);
    const store = heldUp(PUTS, async () => other.release([await win(other, { floor: ABOVE_THE_CLOCK })]));
    expect((await win(store, { floor: ABOVE_THE_CLOCK })).fence).toBe(ABOVE_THE_CLOCK + before + 2);
  });

  it('lets nobody in while somebody else has come to hold the resource', async () => {
    const store = heldUp(PUTS, () => win(other, { holder: 'quick' }));
    expect(await store.acquire(request())).toMatchObject({ acquired: false });
    expect(await holding()).toMatchObject({ holder: 'quick' });
  });

  it('makes a release stale that was not when it looked', async () => {
    const term = await win(other, { ttlMs: 300 });
    expect(await heldUp(ENDS, replace).release([term])).toEqual([false]);
    expect(await holding()).toMatchObject({ holder: 'successor' });
  });

  it.each([
    ['', 300],
    [' by a longer ttl', 60_000],
  ])('makes a renewal%s stale that was not when it looked', async (_how, ttlMs) => {
    const term = await win(other, { ttlMs: 300 });
    expect(await heldUp(PUTS, replace).renew([term], ttlMs)).toEqual([false]);
    expect(await holding()).toMatchObject({ holder: 'successor' });
  });

  it('makes an eviction stale that was not when it looked', async () => {
    const { fence } = await win(other, { ttlMs: 300 });
    expect(await heldUp(ENDS, replace).evict('r', fence)).toBe(false);
    expect(await holding()).toMatchObject({ holder: 'successor' });
  });

  it('lets a renewal of an evicted holder change nothing of its successor, although its session lives', async () => {
    const term = await win(other);
    const evicted = heldUp(PUTS, async () => {
      await other.evict('r', term.fence);
      await replace();
    });
    expect(await evicted.renew([term], TTL_MS)).toEqual([false]);
    expect(await holding()).toMatchObject({ holder: 'successor' });
  });

  it('shortens no term that was renewed for longer', async () => {
    const term = await win(other, { ttlMs: 300 });
    const slow = heldUp(PUTS, () => other.renew([term], 3 * TTL_MS));
    expect(await slow.renew([term], TTL_MS)).toEqual([true]);
    expect((await holding())?.remainingMs).toBeGreaterThan(2 * TTL_MS);
  });
});

describe('a term in ZooKeeper', () => {
  it('lives while it is renewed, and one beside it ends that nobody renews', async () => {
    // No pause of a busy machine is as long.
    const keptMs = 2_000;
    const kept = await win(other, { resource: 'kept', ttlMs: keptMs });
    await win(other, { ttlMs: 400 });
    const answers: boolean[] = [];
    const longAfter = performance.now() + 1.5 * keptMs;
    const renewAndLook = async () => {
      answers.push(...(await other.renew([kept], keptMs)));
      return [performance.now() > longAfter, ...(await other.inspect(['r']))];
    };
    await expect.poll(renewAndLook, { interval: 50, timeout: 10_000 }).toEqual([true, null]);
    expect(new Set(answers)).toEqual(new Set([true]));
  });

  it('lasts for the longest ttl that it was given, and ends by itself after that', async () => {
    const term = await win(other, { ttlMs: 300 });
    expect(await other.renew([term], 1_500)).toEqual([true]);
    expect(await other.renew([term], 300)).toEqual([true]);
    const since = performance.now();
    await expect.poll(() => other.inspect(['r']), { interval: 10, timeout: 15_000 }).toEqual([null]);
    expect(performance.now() - since).toBeGreaterThan(1_300);
    expect(await other.renew([term], 1_500)).toEqual([false]);
  });

  it('is lost, and says so, where a server opens another session in place of the one it ends with', async () => {
    const term = await win(other);
    expect(await storeWith({ connect: connectAnew }).renew([term], TTL_MS)).toEqual([false]);
  });

  it('has the one session that contenders leave behind', async () => {
    const terms = Array.from({ length: 20 }, () => request());
    await other.inspect(['r']);
    // Those of tests before this one may end meanwhile.
    const before = await sessionsOf(zookeeper);
    await Promise.all(terms.map((asked) => other.acquire(asked)));
    await expect.poll(async () => (await sessionsOf(zookeeper)).filter((id) => !before.includes(id))).toHaveLength(1);
  });

  it('is refused a ttl that ZooKeeper would cut, and nobody holds the resource then', async () => {
    const asked = other.acquire(request({ ttlMs: 300_000 }));
    await expect(asked).rejects.toThrow('ZooKeeper grants sessions of at most 200000 ms');
    await expect(asked).rejects.toThrow(SetupError);
    expect(await other.inspect(['r'])).toEqual([null]);
    const term = await win(other);
    await expect(other.renew([term], 300_000)).rejects.toThrow(SetupError);
    expect(await other.renew([term], TTL_MS)).toEqual([true]);
  });
});

describe('a reply of ZooKeeper that gets lost', () => {
  let proxy: ReplyDroppingProxy;
  beforeEach(async () => {
    proxy = await replyDroppingProxy(`redis://${zookeeper.address}`);
  });
  afterEach(() => proxy.close());

  const throughProxy = (losing = PUTS) => {
    const connect = connectAfter(losing, async () => proxy.dropNextReply());
    return storeWith({ servers: [new URL(proxy.url).host], connect });
  };

  it('costs neither the lease nor a fence', async () => {
    const asked = request({ floor: ABOVE_THE_CLOCK });
    expect(await throughProxy().acquire(asked)).toEqual({ acquired: true, fence: ABOVE_THE_CLOCK + 1 });
    expect(proxy.dropped).toBe(1);
    expect(await holding()).toMatchObject({ fence: ABOVE_THE_CLOCK + 1 });
  });

  it('costs no eviction', async () => {
    const { fence } = await win(other);
    expect(await throughProxy(ENDS).evict('r', fence)).toBe(true);
    expect(proxy.dropped).toBe(1);
  });

  it.each([
    ['', TTL_MS],
    [' by a longer ttl', 2 * TTL_MS],
  ])('costs no renewal%s', async (_how, ttlMs) => {
    const term = await win(other);
    expect(await throughProxy().renew([term], ttlMs)).toEqual([true]);
    expect(proxy.dropped).toBe(1);
  });
});

describe('a ZooKeeper', () => {
  it('is asked at its other addresses: a dead one costs nothing', async () => {
    const dead = `127.0.0.1:${await freePort()}`;
    expect((await win(storeWith({ servers: [dead, zookeeper.address] }))).fence).toBeGreaterThan(0);
  });

  it('that is frozen hangs nobody, and goes on when it thaws', async () => {
    const hasty = storeWith({ timeoutMs: 400 });
    const term = await win(hasty);
    zookeeper.freeze();
    const refusal = await hasty.renew([term], TTL_MS).catch((error: unknown) => error);
    zookeeper.thaw();
    expect(refusal).toBeInstanceOf(ZookeeperError);
    expect(refusal).toHaveProperty('message', expect.stringContaining('did not answer in time'));
    expect(await other.renew([term], TTL_MS)).toEqual([true]);
  });

  it('that was killed knows its leases when it is back, and is watched again', async () => {
    const heard: string[] = [];
    const stop = await other.watchReleases((resource) => void heard.push(resource));
    const term = await win(other);
    await zookeeper.kill();
    await zookeeper.start();
    expect(await holding()).toMatchObject({ fence: term.fence });
    expect(await other.acquire(request())).toMatchObject({ acquired: false });
    expect(await other.renew([term], TTL_MS)).toEqual([true]);
    const release = async () => {
      await other.release([await win(other, { resource: 'again' })]);
      return heard;
    };
    await expect.poll(release, { interval: 100, timeout: 15_000 }).toContain('again');
    await stop();
  });

  it('keeps the leases of one user from others, and no message holds a password', async () => {
    const user = { name: 'fencepost', password: 'hush' };
    const term = await win(storeWith({ user }));
    expect(await storeWith({ user }).renew([term], 2 * TTL_MS)).toEqual([true]);
    for (const stranger of [other, storeWith({ user: { ...user, password: 'wrong' } })]) {
      const refusal = await stranger.release([term]).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: 'ZOOKEEPER', status: -102 });
      expect(refusal).not.toHaveProperty('message', expect.stringContaining('wrong'));
    }
  });
});
