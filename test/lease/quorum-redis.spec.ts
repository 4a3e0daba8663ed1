import { afterAll, beforeAll, expect } from 'vitest';
import { Redis } from 'ioredis';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { connectQuorum } from '@fencepost/lease/quorum';
import { closeRedis } from '@fencepost/lease/redis';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { servers, type Servers } from './quorum-redis.js';
import { clearPrefixes, freshPrefix } from '../support/redis.js';

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
  leaseStoreContract(`a quorum of ${size} Redis`, async () => {
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
      shortTtlMs: 400,
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
  });
}
