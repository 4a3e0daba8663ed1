import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EtcdLeaseStore } from '@fencepost/lease/etcd';
import { nativeSessionsContract } from '../contracts/native-sessions.contract.js';
import { countLeases, privateEtcd, type PrivateEtcd } from '../support/etcd.js';
import { fetchAfter } from '../support/fetch-after.js';
import { manyWanted, openSession } from '../support/lease-sessions.js';
import { replyDroppingProxy } from '../support/proxies.js';
import { freshPrefix } from '../support/redis.js';

const PUTS = 'request_put';
const REMOVES = 'request_delete_range';

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

const heldUp = (text: string, happening: () => Promise<unknown>) => storeWith({ fetch: fetchAfter(text, happening) });

/** A store whose requests are noted by their paths. */
function noted(): { readonly paths: string[]; readonly store: EtcdLeaseStore } {
  const paths: string[] = [];
  const store = storeWith({
    fetch: (input, init) => {
      paths.push((typeof input === 'string' ? input : '').split('/v3/')[1] ?? '');
      return fetch(input, init);
    },
  });
  return { paths, store };
}

describe('a session in etcd', () => {
  it('is renewed by a read and a keep-alive in this order, whatever the number of its terms, and closed by one revocation', async () => {
    const { paths, store } = noted();
    const session = await openSession(store);
    const before = await countLeases(etcd);
    const replies = await store.sessions.acquire(session, manyWanted(500));
    expect(replies.filter(({ acquired }) => acquired)).toHaveLength(500);
    expect(await countLeases(etcd)).toBe(before);
    paths.length = 0;
    expect(await store.sessions.renew(session, [])).toEqual({ live: true, revoked: [] });
    expect(paths).toEqual(['kv/range', 'lease/keepalive']);
    paths.length = 0;
    expect(await store.sessions.close(session)).toBe(true);
    expect(paths).toEqual(['lease/revoke', 'kv/txn']);
    expect(await other.inspect(['r0', 'r499'])).toEqual([null, null]);
  });

  it('acquires 500 by one check, 10 reads and 10 transactions', async () => {
    const { paths, store } = noted();
    const session = await openSession(store);
    paths.length = 0;
    await store.sessions.acquire(session, manyWanted(500));
    expect(paths.filter((path) => path === 'kv/txn')).toHaveLength(20);
    expect(paths.filter((path) => path !== 'kv/txn')).toEqual(['lease/timetolive']);
  });
});

nativeSessionsContract('etcd', {
  store: () => other,
  heldUp: (step, happening) => heldUp(step === 'acquire' ? PUTS : REMOVES, happening),
  async losing(step, ask) {
    const texts = { open: 'lease/grant', acquire: PUTS, renew: 'lease/keepalive', end: 'lease/revoke' };
    const proxy = await replyDroppingProxy(etcd.endpoint);
    const lossy = fetchAfter(texts[step], async () => proxy.dropNextReply());
    const answer = await ask(storeWith({ endpoints: [proxy.url.replace('redis:', 'http:')], fetch: lossy }));
    expect(proxy.dropped).toBe(1);
    await proxy.close();
    return answer;
  },
});
