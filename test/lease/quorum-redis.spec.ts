import { afterAll, beforeAll, expect, afterEach, beforeEach, describe, it } from 'vitest';
import { Redis } from 'ioredis';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { connectQuorum, type QuorumLeaseStore } from '@fencepost/lease/quorum';
import { closeRedis } from '@fencepost/lease/redis';
import type { AcquireReply } from '@fencepost/lease/store';
import { leaseStoreContract, type LeaseStoreHarness } from '../contracts/lease-store.contract.js';
import { servers, type Servers, KEEPS_WRITES, quorumClients, quorumProxy, type QuorumProxy } from './quorum-redis.js';
import { clearPrefixes, freshPrefix, privateRedis, type PrivateRedis } from '../support/redis.js';
import { request, win } from '../support/lease-requests.js';

describe('a quorum of Redis servers', () => {
  let five: Servers;

  let direct: Redis[];

  beforeAll(async () => {
    five = await servers(5);
    direct = five.urls.map((url) => new Redis(url));
  });

  afterAll(async () => {
    await Promise.all(direct.map(closeRedis));
    await five.stop();
  });

  for (const size of [3, 5]) {
    const harness = async (): Promise<LeaseStoreHarness> => {
      const space = { prefix: freshPrefix(), tenant: 'default' };
      const key = redisKeys(space);
      const nodes = direct.slice(0, size);
      const forget = async (node: Redis) => {
        await clearPrefixes(node, [space.prefix]);
      };
      // As patient as a test on a busy machine has to be; what a node may take is shown elsewhere.
      const patience = { commandTimeoutMs: 10_000, nodeTimeoutMs: 5_000, longestTtlMs: 3_600_000 };
      const { store, close } = await connectQuorum({ urls: five.urls.slice(0, size), ...space, ...patience });
      return {
        store,
        // A node may take a quarter of it to answer.
        shortTtlMs: 1_200,
        untilFree: async (resource) => {
          await expect.poll(() => store.inspect([resource]), { interval: 5, timeout: 5_000 }).toEqual([null]);
          // On a minority the term may last a moment longer, and the next one wants all of them to be asked in vain.
          const isFree = async (node: Redis) => (await node.exists(key(resource, 'lease'))) === 0;
          const areFree = async () => (await Promise.all(nodes.map(isFree))).every(Boolean);
          await expect.poll(areFree, { interval: 5 }).toBe(true);
        },
        clockGoesBack: async (resource, ms) => {
          for (const node of nodes) {
            const left = await node.pttl(key(resource, 'lease'));
            await node.pexpire(key(resource, 'lease'), left + ms);
          }
        },
        lose: async () => void (await Promise.all(nodes.map(forget))),
        close: async () => {
          await close();
          await Promise.all(nodes.map(forget));
        },
      };
    };
    leaseStoreContract(`a quorum of ${size} Redis`, harness, { refusesInRaces: true });
  }
});

const MAX_TTL_MS = 3_000;

type Grant = Extract<AcquireReply, { acquired: true }>;

/** An outage is "not acquired" here: the test asks who holds. */
function tried(store: QuorumLeaseStore, ttlMs: number): Promise<AcquireReply> {
  return store.acquire(request({ ttlMs })).catch(() => ({ acquired: false, remainingMs: 0 }));
}

async function untilGranted(store: QuorumLeaseStore, ttlMs: number): Promise<Grant> {
  let reply: AcquireReply = { acquired: false, remainingMs: 0 };
  const ask = async () => (reply = await tried(store, ttlMs));
  await expect.poll(ask, { timeout: 15_000, interval: 100 }).toMatchObject({ acquired: true });
  return reply as unknown as Grant;
}

describe('a node that restarted empty', () => {
  const clients = quorumClients({ longestTtlMs: MAX_TTL_MS });
  let nodes: PrivateRedis[];

  beforeEach(async () => {
    nodes = await Promise.all([KEEPS_WRITES, {}, KEEPS_WRITES].map((settings) => privateRedis(settings)));
  });
  afterEach(async () => {
    await clients.close();
    await Promise.all(nodes.map((node) => node.stop()));
  });

  const connect = async () => (await clients.connect(nodes.map(({ url }) => url))).store;

  it('does not vote until every term from before is over, so nobody gets in beside the holder', async () => {
    const [, forgetful, away] = nodes as [PrivateRedis, PrivateRedis, PrivateRedis];
    await away.stop();
    const [holder, other] = [await connect(), await connect()];
    // The forgetful one was just started and doesn't vote itself at first.
    const held = await untilGranted(holder, MAX_TTL_MS);

    // Of the two nodes that granted one forgets it, and the third has never heard of it: without the delay a majority.
    const restartedAt = performance.now();
    await Promise.all([forgetful.restartEmpty(), away.restartEmpty()]);
    const fresh = await connect();
    // Again and again: one request alone may fail because the machine is slow.
    do {
      for (const store of [other, fresh]) expect(await tried(store, 500)).toMatchObject({ acquired: false });
    } while (performance.now() - restartedAt < MAX_TTL_MS / 2);

    expect((await untilGranted(fresh, 500)).fence).toBeGreaterThan(held.fence);
  });
});

const TTL_MS = 1_500;

describe('five nodes cut into two and three, with a client on either side', () => {
  const clients = quorumClients({ commandTimeoutMs: 200, nodeTimeoutMs: 200 });
  let five: Servers;
  let ways: QuorumProxy[][];

  beforeEach(async () => {
    five = await servers(5);
    const way = () => Promise.all(five.urls.map((url) => quorumProxy(url)));
    ways = [await way(), await way()];
  });
  afterEach(async () => {
    await clients.close();
    await Promise.all(ways.flat().map((proxy) => proxy.close()));
    await five.stop();
  });

  const connect = async (side: 0 | 1) => (await clients.connect(ways[side]!.map(({ url }) => url))).store;
  const cut = () => {
    for (const proxy of ways[0]!.slice(2)) proxy.cut();
    for (const proxy of ways[1]!.slice(0, 2)) proxy.cut();
  };
  const heal = () => {
    for (const proxy of ways.flat()) proxy.heal();
  };
  const tries = (store: Awaited<ReturnType<typeof connect>>, holder: string) => () =>
    store.acquire(request({ holder, ttlMs: TTL_MS })).catch(() => ({ acquired: false as const }));

  it('have a holder on the side of the majority and none on the other', async () => {
    const [left, right] = [await connect(0), await connect(1)];
    cut();
    expect(await tries(left, 'left')()).toMatchObject({ acquired: false });
    const term = await win(right, { ttlMs: TTL_MS });
    expect(await tries(left, 'left')()).toMatchObject({ acquired: false });
    expect(await right.renew([term], TTL_MS)).toEqual([true]);
  });

  it('let the holder on the side of the minority run out before the other side gets in, with a larger fence', async () => {
    const [left, right] = [await connect(0), await connect(1)];
    const sentAt = performance.now();
    const term = await win(left, { ttlMs: TTL_MS });
    cut();
    await expect(left.renew([term], TTL_MS)).rejects.toMatchObject({ code: 'QUORUM_UNAVAILABLE' });
    let takenAt = 0;
    const taken = tries(right, 'right');
    await expect
      .poll(
        async () => {
          const reply = await taken();
          if (reply.acquired) takenAt = performance.now();
          return reply;
        },
        { timeout: 10_000 },
      )
      .toMatchObject({ acquired: true, fence: expect.toSatisfy((fence: number) => fence > term.fence) });
    // No sooner than the first one stopped trusting its lease: an order of two events, however slow the machine.
    expect(takenAt).toBeGreaterThan(sentAt + TTL_MS * 0.99 - 2);
    heal();
    await expect
      .poll(() => left.renew([term], TTL_MS).catch(() => 'unavailable'), { timeout: 10_000 })
      .toEqual([false]);
  });

  it('are one quorum again when the cut has healed, and fences go on increasing', async () => {
    const [left, right] = [await connect(0), await connect(1)];
    cut();
    const before = await win(right, { ttlMs: TTL_MS });
    await right.release([before]);
    heal();
    await expect.poll(tries(left, 'left'), { timeout: 10_000 }).toMatchObject({
      acquired: true,
      fence: expect.toSatisfy((fence: number) => fence > before.fence),
    });
    expect(await tries(right, 'right')()).toMatchObject({ acquired: false });
  });
});
