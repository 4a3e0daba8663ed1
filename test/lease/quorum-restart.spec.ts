import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QuorumLeaseStore } from '@fencepost/lease/quorum';
import type { AcquireReply } from '@fencepost/lease/store';
import { request } from '../support/lease-requests.js';
import { KEEPS_WRITES, quorumClients } from './quorum-redis.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';

const MAX_TTL_MS = 3_000;

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
