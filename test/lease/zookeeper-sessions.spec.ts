import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ZookeeperLeaseStore, type ZookeeperOptions } from '@fencepost/lease/zookeeper';
import { nativeSessionsContract } from '../contracts/native-sessions.contract.js';
import { manyWanted, openSession, wanted, winUnder } from '../support/lease-sessions.js';
import { replyDroppingProxy } from '../support/proxies.js';
import { freshPrefix } from '../support/redis.js';
import { connectAfter, privateZookeeper, sessionsOf, type PrivateZookeeper } from '../support/zookeeper.js';

/** In every packet that puts a term under a session, in one that ends a term, and in one that makes or renews a session. */
const PUTS = '"under"';
const ENDS = '/released/';
const SESSION = '"revoked"';

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

/** A store whose packets are counted, for each connection that it opens. */
function noted(): { readonly packets: number[]; readonly store: ZookeeperLeaseStore } {
  const packets: number[] = [];
  const store = storeWith({
    connect: (address) => {
      const socket = connect(address);
      const write = socket.write.bind(socket);
      const n = packets.push(0) - 1;
      socket.write = (bytes: Uint8Array | string) => {
        packets[n] = (packets[n] ?? 0) + 1;
        return write(bytes);
      };
      return socket;
    },
  });
  return { packets, store };
}

describe('a session in ZooKeeper', () => {
  it('is renewed by a read, and one connection with one write, whatever the number of its terms', async () => {
    const { packets, store } = noted();
    const session = await openSession(store);
    const before = await sessionsOf(zookeeper);
    const replies = await store.sessions.acquire(session, manyWanted(500));
    expect(replies.filter(({ acquired }) => acquired)).toHaveLength(500);
    expect(await sessionsOf(zookeeper)).toEqual(before);
    // Of the connection that all calls share: sync and read.
    const shared = packets[0] ?? 0;
    const opened = packets.length;
    expect(await store.sessions.renew(session, [])).toEqual({ live: true, revoked: [] });
    expect([(packets[0] ?? 0) - shared, packets.slice(opened)]).toEqual([2, [2]]);
    expect(await store.sessions.close(session)).toBe(true);
    expect(await other.inspect(['r0', 'r499'])).toEqual([null, null]);
  });

  it('acquires 500 by one connection with five transactions', async () => {
    const { packets, store } = noted();
    const session = await openSession(store);
    await store.sessions.acquire(session, [wanted({ resource: 'before' })]);
    const opened = packets.length;
    await store.sessions.acquire(session, manyWanted(500));
    expect(packets.slice(opened)).toEqual([6]);
  });

  it('lives while it is renewed, and one beside it ends that nobody renews', async () => {
    const ttlMs = 600;
    const [kept, left] = [await openSession(other, { ttlMs }), await openSession(other, { ttlMs, holder: 'pod/2' })];
    await winUnder(other, kept, { resource: 'kept' });
    await winUnder(other, left, { resource: 'left' });
    const lives = new Set<boolean>();
    const longAfter = performance.now() + 3 * ttlMs;
    const renewAndLook = async () => {
      lives.add((await other.sessions.renew(kept, [])).live);
      return [performance.now() > longAfter, ...(await other.inspect(['left']))];
    };
    await expect.poll(renewAndLook, { interval: 50, timeout: 10_000 }).toEqual([true, null]);
    expect([...lives]).toEqual([true]);
    expect(await other.inspect(['kept'])).toMatchObject([{ holder: 'pod/1' }]);
  });

  it('takes turns: an acquisition and a renewal at once break no connection of each other', async () => {
    const { packets, store } = noted();
    const session = await openSession(store);
    await winUnder(store, session);
    const before = packets.length;
    const asked = Array.from({ length: 10 }, (_, n) => [
      store.sessions.acquire(session, [wanted({ resource: `r${n}` })]),
      store.sessions.renew(session, []),
    ]).flat();
    expect(await Promise.all(asked)).toMatchObject(
      Array.from({ length: 10 }, () => [[{ acquired: true }], { live: true }]).flat(),
    );
    expect(packets.length - before).toBe(20);
  });

  it('is renewed and closed by another process that knows its nonce', async () => {
    const session = await openSession(storeWith({}));
    await winUnder(storeWith({}), session);
    expect(await storeWith({}).sessions.renew(session, [])).toEqual({ live: true, revoked: [] });
    expect(await storeWith({}).sessions.close(session)).toBe(true);
    expect(await other.inspect(['r'])).toEqual([null]);
  });

  it('is refused a ttl that ZooKeeper would cut', async () => {
    await expect(openSession(other, { ttlMs: 300_000 })).rejects.toThrow(
      'ZooKeeper grants sessions of at most 200000 ms',
    );
  });
});

describe('an eviction in ZooKeeper', () => {
  it('notes the term although its session is renewed meanwhile', async () => {
    const session = await openSession(other);
    const { fence, nonce } = await winUnder(other, session);
    expect(await heldUp(ENDS, () => other.sessions.renew(session, [])).evict('r', fence)).toBe(true);
    expect((await other.sessions.renew(session, [])).revoked).toEqual([{ resource: 'r', nonce }]);
  });

  it('is not forgotten by a renewal that was held up', async () => {
    const session = await openSession(other);
    const { fence, nonce } = await winUnder(other, session);
    const reply = await heldUp(SESSION, () => other.evict('r', fence)).sessions.renew(session, []);
    expect(reply).toEqual({ live: true, revoked: [{ resource: 'r', nonce }] });
  });
});

nativeSessionsContract('ZooKeeper', {
  store: () => other,
  heldUp: (step, happening) => heldUp(step === 'acquire' ? PUTS : ENDS, happening),
  async losing(step, ask) {
    // Of an end the reply to its announcement: asked again, the session is over already.
    const texts = { open: SESSION, acquire: PUTS, renew: SESSION, end: '/released/*' };
    const proxy = await replyDroppingProxy(`redis://${zookeeper.address}`);
    const lossy = connectAfter(texts[step], async () => proxy.dropNextReply());
    const answer = await ask(storeWith({ servers: [new URL(proxy.url).host], connect: lossy }));
    expect(proxy.dropped).toBe(1);
    await proxy.close();
    return answer;
  },
});
