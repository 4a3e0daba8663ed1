import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConsulLeaseStore } from '@fencepost/lease/consul';
import { nativeSessionsContract } from '../contracts/native-sessions.contract.js';
import { consulDouble, type ConsulDouble } from '../support/consul-double.js';
import { fetchAfter } from '../support/fetch-after.js';
import { TTL_MS } from '../support/lease-requests.js';
import { manyWanted, newSession, openSession, winUnder } from '../support/lease-sessions.js';
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
});

nativeSessionsContract('Consul', {
  store: () => other,
  heldUp: (step, happening) => heldUp(step === 'acquire' ? BEGINS : ENDS, happening),
  async losing(step, ask) {
    const texts = { open: BEGINS, acquire: BEGINS, renew: '/session/renew/', end: '/session/destroy/' };
    const proxy = await replyDroppingProxy(consul.url);
    const lossy = fetchAfter(texts[step], async () => proxy.dropNextReply());
    const answer = await ask(storeWith({ endpoints: [proxy.url.replace('redis:', 'http:')], fetch: lossy }));
    expect(proxy.dropped).toBe(1);
    await proxy.close();
    return answer;
  },
});
