import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_FENCE, parseFence, type LeaseStore } from '@fencepost/lease';
import { EtcdLeaseStore } from '@fencepost/lease/etcd';
import { privateEtcd, type PrivateEtcd, countLeases } from '../support/etcd.js';
import { fetchAfter } from '../support/fetch-after.js';
import { freePort } from '../../scripts/redis.mjs';
import { replyDroppingProxy, type ReplyDroppingProxy } from '../support/proxies.js';
import { freshPrefix } from '../support/redis.js';

const TTL_MS = 10_000;
const PUTS = 'request_put';
const REMOVES = 'request_delete_range';
/** Above the clock fences count one by one, so a second one would show. */
const FLOOR = parseFence('8000000000000000');

let etcd: PrivateEtcd;
let prefix: string;
/** Somebody else, whom nothing holds up. */
let other: EtcdLeaseStore;

beforeAll(async () => {
  etcd = await privateEtcd();
});
beforeEach(() => {
  prefix = freshPrefix();
  other = storeWith({});
});
afterAll(() => etcd.stop());

function storeWith(over: { readonly fetch?: typeof fetch; readonly endpoints?: string[] }): EtcdLeaseStore {
  return new EtcdLeaseStore({ endpoints: [etcd.endpoint], timeoutMs: 20_000, prefix, ...over });
}

async function win(store: LeaseStore, nonce: string, ttlMs = TTL_MS): Promise<number> {
  const reply = await store.acquire({ resource: 'r', nonce, holder: nonce, ttlMs, floor: NO_FENCE });
  if (!reply.acquired) throw new Error('Expected to win.');
  return reply.fence;
}

const holderOf = async (resource: string) => (await other.inspect([resource]))[0]?.holder;

async function untilFree(): Promise<void> {
  await expect.poll(() => other.inspect(['r']), { timeout: 15_000 }).toEqual([null]);
}

describe('what happens between a look at etcd and the transaction', () => {
  it('gives nobody a fence that somebody had for a moment', async () => {
    let between = 0;
    const store = storeWith({
      fetch: fetchAfter(PUTS, async () => {
        between = await win(other, 'quick');
        await other.release([{ resource: 'r', nonce: 'quick' }]);
      }),
    });
    const fence = await win(store, 'slow');
    expect(between).toBeGreaterThan(0);
    expect(fence).toBeGreaterThan(between);
  });

  it('lets nobody in while somebody else has come to hold the resource', async () => {
    const store = storeWith({ fetch: fetchAfter(PUTS, () => win(other, 'quick')) });
    const late = { resource: 'r', nonce: 'late', holder: 'late', ttlMs: TTL_MS, floor: NO_FENCE };
    expect(await store.acquire(late)).toMatchObject({ acquired: false });
    expect(await holderOf('r')).toBe('quick');
  });

  async function replace(): Promise<void> {
    await untilFree();
    await win(other, 'successor');
  }

  it('makes a release stale that was not when it looked', async () => {
    const store = storeWith({ fetch: fetchAfter(REMOVES, replace) });
    await win(store, 'stale', 1_000);
    expect(await store.release([{ resource: 'r', nonce: 'stale' }])).toEqual([false]);
    expect(await holderOf('r')).toBe('successor');
  });

  it('makes a renewal stale that was not when it looked', async () => {
    const store = storeWith({ fetch: fetchAfter('TTL":"77', replace) });
    await win(store, 'stale', 1_000);
    expect(await store.renew([{ resource: 'r', nonce: 'stale' }], 77_000)).toEqual([false]);
    expect(await holderOf('r')).toBe('successor');
  });
});

describe('a term in etcd', () => {
  it('leaves no lease behind: not of who lost, not of a ttl that was changed, not after its end', async () => {
    const before = await countLeases(etcd);
    const terms = Array.from({ length: 20 }, (_, n) => ({ resource: 'r', nonce: `n${n}` }));
    const ask = (term: { resource: string; nonce: string }) =>
      other.acquire({ ...term, holder: 'pod', ttlMs: TTL_MS, floor: NO_FENCE });
    await Promise.all(terms.map(ask));
    expect(await countLeases(etcd)).toBe(before + 1);
    expect(await other.renew(terms, 2 * TTL_MS)).toContain(true);
    expect(await countLeases(etcd)).toBe(before + 1);
    expect(await other.release(terms)).toContain(true);
    expect(await countLeases(etcd)).toBe(before);
  });
});

describe('a reply of etcd that gets lost', () => {
  let proxy: ReplyDroppingProxy;
  beforeEach(async () => {
    proxy = await replyDroppingProxy(etcd.endpoint);
  });
  afterEach(() => proxy.close());

  const throughProxy = (losing: string) => {
    const endpoints = [proxy.url.replace('redis:', 'http:')];
    return storeWith({ endpoints, fetch: fetchAfter(losing, async () => proxy.dropNextReply()) });
  };

  it('costs neither the lease nor a fence', async () => {
    const request = { resource: 'r', nonce: 'n', holder: 'pod', ttlMs: TTL_MS, floor: FLOOR };
    const reply = await throughProxy(PUTS).acquire(request);
    expect(proxy.dropped).toBe(1);
    expect(reply).toEqual({ acquired: true, fence: FLOOR + 1 });
    expect(await other.inspect(['r'])).toMatchObject([{ holder: 'pod', fence: FLOOR + 1 }]);
  });

  it('costs no renewal', async () => {
    await win(other, 'n');
    expect(await throughProxy('"ID":').renew([{ resource: 'r', nonce: 'n' }], TTL_MS)).toEqual([true]);
    expect(proxy.dropped).toBe(1);
  });
});

describe('a watcher of etcd that throws', () => {
  it('keeps nobody from hearing, not even itself the next time', async () => {
    const heard: string[] = [];
    const warned = once(process, 'warning');
    const stops = [
      await other.watchReleases((resource) => {
        heard.push(`throws: ${resource}`);
        throw new Error('a bug in a watcher');
      }),
      await other.watchReleases((resource) => void heard.push(resource)),
    ];
    for (const nonce of ['a', 'b']) {
      await win(other, nonce);
      expect(await other.release([{ resource: 'r', nonce }])).toEqual([true]);
    }
    await expect.poll(() => heard.toSorted()).toEqual(['r', 'r', 'throws: r', 'throws: r']);
    expect(await warned).toEqual([new Error('a bug in a watcher')]);
    await Promise.all(stops.map((stop) => stop()));
  });
});

describe('addresses of etcd', () => {
  it('are asked in turn: a dead one costs nothing', async () => {
    const store = storeWith({ endpoints: [`http://127.0.0.1:${await freePort()}`, etcd.endpoint] });
    expect(await win(store, 'n')).toBeGreaterThan(0);
  });
});
