import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { request, win } from '../support/lease-requests.js';
import { quorumProxy, type QuorumProxy, quorumClients, servers, type Servers } from './quorum-redis.js';

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
