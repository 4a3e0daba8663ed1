import { afterAll, beforeAll, expect } from 'vitest';
import { EtcdLeaseStore } from '@fencepost/lease/etcd';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { privateEtcd } from '../support/etcd.js';
import type { PrivateEtcd } from '../support/etcd.js';
import { freshPrefix } from '../support/redis.js';

let etcd: PrivateEtcd;
beforeAll(async () => {
  etcd = await privateEtcd();
});
afterAll(() => etcd.stop());

leaseStoreContract('the etcd store', async () => {
  const store = new EtcdLeaseStore({ endpoints: [etcd.endpoint], timeoutMs: 60_000, prefix: freshPrefix() });
  return {
    store,
    // Whole seconds, rounded up.
    coarsenessMs: 1_000,
    untilFree: async (resource) => {
      await expect.poll(() => store.inspect([resource]), { interval: 50, timeout: 15_000 }).toEqual([null]);
    },
    lose: () => etcd.restartEmpty(),
    close: async () => {},
  };
});
