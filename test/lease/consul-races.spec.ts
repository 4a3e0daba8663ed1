import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { ConsulError, ConsulLeaseStore, type ConsulOptions } from '@fencepost/lease/consul';
import { freePort } from '../../scripts/redis.mjs';
import { consulDouble, type ConsulDouble } from '../support/consul-double.js';
import { fetchAfter } from '../support/fetch-after.js';
import { ABOVE_THE_CLOCK, request, TTL_MS, win } from '../support/lease-requests.js';
import { replyDroppingProxy } from '../support/proxies.js';

/** In each request that begins or moves a term, that ends one, and that renews one. */
const BEGINS = '"Verb":"lock"';
const ENDS = '"Verb":"check-session"';
const RENEWS = '/session/renew/';

let consul: ConsulDouble;
/** Somebody else, whom nothing holds up. */
let other: ConsulLeaseStore;

beforeEach(async () => {
  consul = await consulDouble();
  other = storeWith({});
});
afterEach(() => consul.stop());

function storeWith(over: Partial<ConsulOptions>): ConsulLeaseStore {
  return new ConsulLeaseStore({ endpoints: [consul.url], timeoutMs: 20_000, ...over });
}

const heldUp = (text: string, happening: () => Promise<unknown>) => storeWith({ fetch: fetchAfter(text, happening) });
const holding = async () => (await other.inspect(['r']))[0];

async function replace(): Promise<void> {
  consul.advance(2 * TTL_MS);
  await win(other, { holder: 'successor' });
}

describe('what happens between a look at Consul and the transaction', () => {
  it.each([
    ['the first', 0],
    ['a later', 1],
  ])('gives nobody a fence that somebody had for a moment, as %s term of a resource', async (_which, before) => {
    for (let n = 0; n < before; n += 1) await other.release([await win(other, { floor: ABOVE_THE_CLOCK })]);
    const store = heldUp(BEGINS, async () => other.release([await win(other, { floor: ABOVE_THE_CLOCK })]));
    expect((await win(store, { floor: ABOVE_THE_CLOCK })).fence).toBe(ABOVE_THE_CLOCK + before + 2);
  });

  it('lets nobody in while somebody else has come to hold the resource', async () => {
    const store = heldUp(BEGINS, () => win(other, { holder: 'quick' }));
    expect(await store.acquire(request())).toMatchObject({ acquired: false });
    expect(await holding()).toMatchObject({ holder: 'quick' });
  });

  it('makes a release stale that was not when it looked', async () => {
    const term = await win(other);
    expect(await heldUp(ENDS, replace).release([term])).toEqual([false]);
    expect(await holding()).toMatchObject({ holder: 'successor' });
  });

  it.each([
    ['', RENEWS, TTL_MS],
    [' by a longer ttl', BEGINS, 6 * TTL_MS],
  ])('makes a renewal%s stale that was not when it looked', async (_how, text, ttlMs) => {
    const term = await win(other);
    expect(await heldUp(text, replace).renew([term], ttlMs)).toEqual([false]);
    expect(await holding()).toMatchObject({ holder: 'successor' });
  });

  it('makes an eviction stale that was not when it looked', async () => {
    const { fence } = await win(other);
    expect(await heldUp(ENDS, replace).evict('r', fence)).toBe(false);
    expect(await holding()).toMatchObject({ holder: 'successor' });
  });

  it('shortens no term that was renewed for longer', async () => {
    const term = await win(other);
    const slow = heldUp(RENEWS, () => other.renew([term], 6 * TTL_MS));
    expect(await slow.renew([term], TTL_MS)).toEqual([true]);
    consul.advance(5 * TTL_MS);
    expect(await holding()).toMatchObject({ fence: term.fence });
  });
});

describe('a term in Consul', () => {
  it('lives while it is renewed, and one beside it ends that nobody renews', async () => {
    const kept = await win(other, { resource: 'kept' });
    await win(other);
    for (let n = 0; n < 3; n += 1) {
      consul.advance(0.9 * TTL_MS);
      expect(await other.renew([kept], TTL_MS)).toEqual([true]);
    }
    expect(await holding()).toBeNull();
  });

  it('lasts for the longest ttl that it was given', async () => {
    const term = await win(other);
    expect(await other.renew([term], 4 * TTL_MS)).toEqual([true]);
    expect(await other.renew([term], TTL_MS)).toEqual([true]);
    consul.advance(3 * TTL_MS);
    expect(await other.renew([term], TTL_MS)).toEqual([true]);
    consul.advance(4 * TTL_MS);
    expect(await other.renew([term], TTL_MS)).toEqual([false]);
  });

  it('is lost neither to a node that only seems to be down nor to a lock-delay', async () => {
    const term = await win(other);
    consul.nodeSeemsDown();
    expect(await other.renew([term], TTL_MS)).toEqual([true]);
    consul.advance(TTL_MS);
    expect(await win(other)).not.toEqual(term);
  });

  it('leaves no session behind: not of contenders, not of a ttl that was changed, not after its end', async () => {
    const terms = Array.from({ length: 20 }, () => request());
    await Promise.all(terms.map((asked) => other.acquire(asked)));
    expect(consul.sessions).toBe(1);
    expect(await other.renew(terms, 2 * TTL_MS)).toContain(true);
    expect(consul.sessions).toBe(1);
    expect(await other.release(terms)).toContain(true);
    expect(consul.sessions).toBe(0);
  });

  it('is refused a ttl of more than a day', async () => {
    await expect(other.acquire(request({ ttlMs: 86_400_001 }))).rejects.toThrow(SetupError);
    expect(consul.sessions).toBe(0);
  });
});

describe('a reply of Consul that gets lost', () => {
  it.each([
    ['a lease', BEGINS, (store: ConsulLeaseStore) => win(store, { nonce: 'n', floor: ABOVE_THE_CLOCK })],
    ['a renewal', RENEWS, (store: ConsulLeaseStore) => store.renew([{ resource: 'r', nonce: 'n' }], TTL_MS)],
  ])('costs neither %s nor a fence', async (_what, text, ask) => {
    const proxy = await replyDroppingProxy(consul.url);
    const lossy = fetchAfter(text, async () => proxy.dropNextReply());
    if (text === RENEWS) await win(other, { nonce: 'n', floor: ABOVE_THE_CLOCK });
    await ask(storeWith({ endpoints: [proxy.url.replace('redis:', 'http:')], fetch: lossy }));
    expect(proxy.dropped).toBe(1);
    expect(await holding()).toMatchObject({ fence: ABOVE_THE_CLOCK + 1 });
    await proxy.close();
  });

  it('costs no eviction', async () => {
    const proxy = await replyDroppingProxy(consul.url);
    const lossy = fetchAfter(ENDS, async () => proxy.dropNextReply());
    const { fence } = await win(other);
    const store = storeWith({ endpoints: [proxy.url.replace('redis:', 'http:')], fetch: lossy });
    expect(await store.evict('r', fence)).toBe(true);
    expect(proxy.dropped).toBe(1);
    await proxy.close();
  });
});

describe('a Consul', () => {
  it('without a leader is asked again, and one that is gone is passed over', async () => {
    consul.refuse(3);
    expect((await win(other)).fence).toBeGreaterThan(0);
    const endpoints = [`http://127.0.0.1:${await freePort()}`, consul.url];
    expect(await storeWith({ endpoints }).inspect(['r'])).toMatchObject([{ holder: 'pod/1' }]);
  });

  it('that stays without a leader is an error, in time', async () => {
    consul.refuse(1_000);
    const asked = storeWith({ timeoutMs: 300 }).inspect(['r']);
    await expect(asked).rejects.toThrow(ConsulError);
  });

  it('that wants a token refuses a wrong one at once, and the message holds no token', async () => {
    const guarded = await consulDouble({ token: 'right' });
    const endpoints = [guarded.url];
    await win(storeWith({ endpoints, token: 'right' }));
    const refusal = await storeWith({ endpoints, token: 'wrong' })
      .inspect(['r'])
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'CONSUL', status: 403 });
    expect(refusal).not.toHaveProperty('message', expect.stringContaining('wrong'));
    await guarded.stop();
  });

  it('whose index goes back is watched anew, from the beginning', async () => {
    const heard: string[] = [];
    const looks: boolean[] = [];
    const watched = storeWith({
      fetch: (input, init) => {
        looks.push(typeof input === 'string' && input.includes('&index='));
        return fetch(input, init);
      },
    });
    await other.release([await win(other, { resource: 'before' })]);
    const stop = await watched.watchReleases((resource) => void heard.push(resource));
    await consul.restoreAfter(async () => {
      for (let n = 0; n < 20; n += 1) await other.release([await win(other, { resource: 'lost' })]);
      await expect.poll(() => consul.waiting).toBe(1);
    });
    expect(heard).toContain('lost');
    await other.release([await win(other, { resource: 'after' })]);
    await expect.poll(() => heard, { timeout: 5_000 }).toContain('after');
    expect(heard).not.toContain('before');
    // Consul's documentation asks for the second one that waits for nothing.
    expect(looks.filter((waits) => !waits)).toHaveLength(2);
    await stop();
  });

  it.each([
    ['no address', { endpoints: [] }],
    ['an address without a scheme', { endpoints: ['a:8500'] }],
    ['a password in an address', { endpoints: ['http://me:hush@a:8500'] }],
    ['a timeout of 0', { timeoutMs: 0 }],
  ])('is not asked with %s', (_what, options) => {
    expect(() => storeWith(options)).toThrow(SetupError);
    expect(() => storeWith(options)).not.toThrow('hush');
  });
});
