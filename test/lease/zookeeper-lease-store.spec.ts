import { afterAll, beforeAll, describe, expect } from 'vitest';
import { ZookeeperLeaseStore } from '@fencepost/lease/zookeeper';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { freshPrefix } from '../support/redis.js';
import { privateZookeeper, type PrivateZookeeper } from '../support/zookeeper.js';

describe('the ZooKeeper lease store', () => {
  let zookeeper: PrivateZookeeper;

  beforeAll(async () => {
    zookeeper = await privateZookeeper();
  });

  afterAll(() => zookeeper.stop());

  leaseStoreContract('the ZooKeeper store', async () => {
    const store = new ZookeeperLeaseStore({ servers: [zookeeper.address], timeoutMs: 60_000, prefix: freshPrefix() });
    return {
      store,
      // A tick, and what a busy machine adds.
      coarsenessMs: 1_000,
      untilFree: async (resource) => {
        await expect.poll(() => store.inspect([resource]), { interval: 20, timeout: 15_000 }).toEqual([null]);
      },
      lose: () => zookeeper.restartEmpty(),
      close: async () => {},
    };
  });
});
