import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { ConsulLeaseStore } from '@fencepost/lease/consul';
import { consulDouble, type ConsulDouble } from '../support/consul-double.js';
import { fetchAfter } from '../support/fetch-after.js';
import { ABOVE_THE_CLOCK, request, TTL_MS, win } from '../support/lease-requests.js';
import { manyWanted, newSession, openSession, wanted, winUnder } from '../support/lease-sessions.js';
import { replyDroppingProxy } from '../support/proxies.js';

const BEGINS = '"Verb":"lock"';
const ENDS = '"Verb":"delete-cas"';

let consul: ConsulDouble;
/** Somebody else, whom nothing holds up. */
let other: ConsulLeaseStore;

beforeEach(async () => {
  consul = await consulDouble();
  other = storeWith({});
});
afterEach(() => consul.stop());

function storeWith(over: { readonly fetch?: typeof fetch; readonly endpoints?: string[] }): ConsulLeaseStore {
  return new ConsulLeaseStore({ endpoints: [consul.url], timeoutMs: 20_000, ...over });
}

const heldUp = (text: string, happening: () => Promise<unknown>) => storeWith({ fetch: fetchAfter(text, happening) });

/** A store whose requests are noted by their paths. */
function noted(): { readonly paths: string[]; readonly store: ConsulLeaseStore } {
  const paths: string[] = [];
  const store = storeWith({
    fetch: (input, init) => {
      paths.push(
        (typeof input === 'string' ? input : '').split(/\/v1\/|[?]/)[1]?.replace(/\/[0-9a-f-]{36}$/, '') ?? '',
      );
      return fetch(input, init);
    },
  });
  return { paths, store };
}

describe('a session in Consul', () => {
  it('is renewed by a read and a renewal in this order, whatever the number of its terms, and ended by one request', async () => {
    const { paths, store } = noted();
    const session = await openSession(store);
    const replies = await store.sessions.acquire(session, manyWanted(500));
    expect(replies.filter(({ acquired }) => acquired)).toHaveLength(500);
    expect(consul.sessions).toBe(1);
    paths.length = 0;
    expect(await store.sessions.renew(session, [])).toEqual({ live: true, revoked: [] });
    expect(paths).toEqual(['txn', 'session/renew']);
    paths.length = 0;
    expect(await store.sessions.close(session)).toBe(true);
    expect(paths).toEqual(['txn', 'session/destroy', 'txn']);
    expect(await other.inspect(['r0', 'r499'])).toEqual([null, null]);
    expect(consul.sessions).toBe(0);
  });

  it('acquires 500 by 10 reads and 25 transactions', async () => {
    const { paths, store } = noted();
    const session = await openSession(store);
    paths.length = 0;
    await store.sessions.acquire(session, manyWanted(500));
    expect(paths).toEqual(Array.from({ length: 35 }, () => 'txn'));
  });

  it('lives while it is renewed, and one beside it ends that nobody renews', async () => {
    const [kept, left] = [await openSession(other), await openSession(other, { holder: 'pod/2' })];
    await winUnder(other, kept, { resource: 'kept' });
    await winUnder(other, left, { resource: 'left' });
    for (let n = 0; n < 3; n += 1) {
      consul.advance(0.9 * TTL_MS);
      expect(await other.sessions.renew(kept, [])).toEqual({ live: true, revoked: [] });
    }
    expect(await other.inspect(['kept', 'left'])).toMatchObject([{ holder: 'pod/1' }, null]);
  });

  it('leaves no session of Consul behind when it is opened ten times at once', async () => {
    const session = newSession();
    await Promise.all(Array.from({ length: 10 }, () => other.sessions.open(session)));
    expect(consul.sessions).toBe(1);
  });

  it('is refused a renewal for longer than Consul keeps it', async () => {
    const session = await openSession(other);
    const term = await winUnder(other, session);
    const longer = { ...session, ttlMs: 2 * TTL_MS };
    await expect(other.sessions.renew(longer, [])).rejects.toThrow(SetupError);
    expect(await other.inspect(['r'])).toMatchObject([{ fence: term.fence }]);
  });

  it('lets no term with a ttl of its own be renewed or acquired under the nonce of one of its terms, nor the other way round', async () => {
    const session = await openSession(other);
    const term = await winUnder(other, session);
    expect(await other.renew([term], TTL_MS)).toEqual([false]);
    expect(await other.acquire(request({ nonce: term.nonce }))).toMatchObject({ acquired: false });
    const own = await win(other, { resource: 'own' });
    const asked = wanted({ resource: 'own', nonce: own.nonce });
    expect(await other.sessions.acquire(session, [asked])).toMatchObject([{ acquired: false }]);
  });

  it('answers a resource that stands in the batch twice: the first request has it, the second does not', async () => {
    const session = await openSession(other);
    const first = wanted();
    const replies = await other.sessions.acquire(session, [first, wanted(), first]);
    expect(replies).toMatchObject([{ acquired: true }, { acquired: false }, replies[0]]);
  });
});

describe('what happens between a look at Consul and the transaction of a session', () => {
  it('gives nobody a fence that somebody had for a moment', async () => {
    const session = await openSession(other);
    const store = heldUp(BEGINS, async () => other.release([await win(other, { floor: ABOVE_THE_CLOCK })]));
    expect((await winUnder(store, session, { floor: ABOVE_THE_CLOCK })).fence).toBe(ABOVE_THE_CLOCK + 2);
  });

  it('lets it take nothing from a quicker holder, and gives it the others', async () => {
    const session = await openSession(other);
    const store = heldUp(BEGINS, () => win(other, { resource: 'r1', holder: 'quick' }));
    const replies = await store.sessions.acquire(session, manyWanted(3));
    expect(replies.map(({ acquired }) => acquired)).toEqual([true, false, true]);
    expect(await other.inspect(['r1'])).toMatchObject([{ holder: 'quick' }]);
  });

  it('gives it nothing when it has ended', async () => {
    const session = await openSession(other);
    const store = heldUp(BEGINS, () => other.sessions.close(session));
    expect(await store.sessions.acquire(session, [wanted()])).toEqual([{ acquired: false, remainingMs: 0 }]);
    expect(await other.inspect(['r'])).toEqual([null]);
  });

  it('makes an eviction stale, and leaves its later term of the same resource alone', async () => {
    const session = await openSession(other);
    const first = await winUnder(other, session);
    const again = async () => {
      await other.release([first]);
      await winUnder(other, session, { nonce: 'later' });
    };
    expect(await heldUp(ENDS, again).evict('r', first.fence)).toBe(false);
    expect((await other.sessions.renew(session, [])).revoked).toEqual([]);
    expect(await other.release([{ resource: 'r', nonce: 'later' }])).toEqual([true]);
  });
});

describe('a reply of Consul about a session that gets lost', () => {
  const losing = async (text: string, ask: (store: ConsulLeaseStore) => Promise<unknown>) => {
    const proxy = await replyDroppingProxy(consul.url);
    const lossy = fetchAfter(text, async () => proxy.dropNextReply());
    const answer = await ask(storeWith({ endpoints: [proxy.url.replace('redis:', 'http:')], fetch: lossy }));
    expect(proxy.dropped).toBe(1);
    await proxy.close();
    return answer;
  };

  it('costs neither the session, nor a term, nor a fence', async () => {
    const session = newSession();
    await losing(BEGINS, (store) => store.sessions.open(session));
    const asked = wanted({ floor: ABOVE_THE_CLOCK });
    const replies = await losing(BEGINS, (store) => store.sessions.acquire(session, [asked]));
    expect(replies).toEqual([{ acquired: true, fence: ABOVE_THE_CLOCK + 1 }]);
    const renewed = await losing('/session/renew/', (store) => store.sessions.renew(session, []));
    expect(renewed).toEqual({ live: true, revoked: [] });
  });

  it.each(['close', 'closeOf'] as const)('leaves no doubt that %s has ended it', async (how) => {
    const session = await openSession(other);
    const { fence } = await winUnder(other, session);
    const ended = await losing('/session/destroy/', ({ sessions }) =>
      how === 'close' ? sessions.close(session) : sessions.closeOf('r', fence),
    );
    expect(ended).toBe(true);
    expect(await other.sessions.close(session)).toBe(false);
  });
});
