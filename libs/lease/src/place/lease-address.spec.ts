import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ConsulLeaseStore } from '../consul/consul-lease-store.js';
import { EtcdLeaseStore } from '../etcd/etcd-lease-store.js';
import { ZookeeperLeaseStore } from '../zookeeper/zookeeper-lease-store.js';
import { openLeaseStore, type LeasePlace } from './lease-address.js';

const PLACE = {
  ...{ prefix: 'shop', tenant: 'eu', kind: 'cron' as const, ttlMs: 6_000 },
  ...{ clock: systemClock, observe: () => {} },
};

describe('where leases are kept', () => {
  it.each(['', 'quorum', 'quorum:', 'quorum:a,,b', 'etcd2:http://a', 'toString:x', 'redis', 'redis://a:6379'])(
    'is refused where it is no system and its addresses: %j',
    async (text) => {
      await expect(openLeaseStore(text, PLACE)).rejects.toThrow(`such as "quorum:redis://a:6379,`);
    },
  );

  it('is named without its passwords', async () => {
    const refused = openLeaseStore('etcd2:http://root:s3cret@a:1,http://root:0ther@b:2', PLACE);
    await expect(refused).rejects.toThrow('got "etcd2:http://***@a:1,http://***@b:2".');
  });

  it('is opened by the system that it names', async () => {
    for (const [address, Store] of [
      ['etcd:http://127.0.0.1:1, http://127.0.0.1:2', EtcdLeaseStore],
      ['zookeeper:127.0.0.1:1,127.0.0.1:2', ZookeeperLeaseStore],
      ['consul:http://127.0.0.1:1', ConsulLeaseStore],
    ] as const) {
      const { store, close } = await openLeaseStore(address, PLACE);
      expect(store).toBeInstanceOf(Store);
      await close();
    }
    await expect(openLeaseStore('quorum:redis://127.0.0.1:1,redis://127.0.0.1:2', PLACE)).rejects.toThrow('odd number');
  });
});

describe("a store of one's own", () => {
  const opening = (probe?: MemoryLeaseStore['probe']) => {
    const asked: LeasePlace[] = [];
    let closed = 0;
    const store = Object.assign(new MemoryLeaseStore(), probe ? { probe } : {});
    const opened = openLeaseStore(
      (place) => (asked.push(place), { store, close: async () => void (closed += 1) }),
      PLACE,
    );
    return { opened, store, asked, closed: () => closed };
  };

  it('is opened with what it needs to know', async () => {
    const { opened, store, asked, closed } = opening();
    expect((await opened).store).toBe(store);
    expect(asked).toEqual([{ ...PLACE, commandTimeoutMs: 1_000 }]);
    expect(closed()).toBe(0);
  });

  it('is closed again where it says that it can not be used', async () => {
    const { opened, closed } = opening(async () => [{ code: 'EVICTION', danger: 'refuse', message: 'It forgets.' }]);
    await expect(opened).rejects.toThrow('It forgets.');
    expect(closed()).toBe(1);
  });
});
