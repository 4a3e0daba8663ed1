import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LeaseStore } from '@fencepost/lease';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { isLinear } from '../contracts/linear-leases.contract.js';

const TERMS = { ttlMs: 60_000, coarsenessMs: 0, pauseMs: 3, perClient: 8 };

/** Asks and answers a while later, so that calls overlap. */
function late(store: LeaseStore): LeaseStore {
  const later = async <T>(call: () => Promise<T>): Promise<T> => {
    await pause(Math.random() * 3);
    const reply = await call();
    await pause(Math.random() * 3);
    return reply;
  };
  return {
    acquire: (request) => later(() => store.acquire(request)),
    renew: (terms, ttlMs) => later(() => store.renew(terms, ttlMs)),
    release: (terms) => later(() => store.release(terms)),
    inspect: (resources) => store.inspect(resources),
    watchReleases: (onReleased) => store.watchReleases(onReleased),
  };
}

const BROKEN: Record<string, (store: MemoryLeaseStore) => Partial<LeaseStore>> = {
  'lets a second holder in now and then': (store) => ({
    acquire: async (request) => {
      if (Math.random() < 0.3) store.clear();
      return store.acquire(request);
    },
  }),
  'releases whoever holds it': (store) => ({
    release: async () => {
      store.clear();
      return [true];
    },
  }),
  'renews every term': () => ({ renew: async () => [true] }),
  'issues the same fence again': (store) => ({
    acquire: async (request) => {
      const reply = await store.acquire(request);
      return reply.acquired ? { ...reply, fence: 7 as never } : reply;
    },
  }),
};

describe('the linearizability check of leases', () => {
  it('passes a sound store, also when terms run out', async () => {
    expect(await isLinear(late(new MemoryLeaseStore()), TERMS)).toBe(true);
    expect(await isLinear(late(new MemoryLeaseStore()), { ...TERMS, ttlMs: 20, pauseMs: 26 })).toBe(true);
  });

  it.each(Object.entries(BROKEN))('turns down a store that %s', async (_, breaks) => {
    // Whether a defect shows depends on which calls meet: some histories look sound all the same.
    let passed = 0;
    const terms = { ...TERMS, ttlMs: 20, pauseMs: 26 };
    for (; passed < 30; passed += 1) {
      const sound = new MemoryLeaseStore();
      if (!(await isLinear({ ...late(sound), ...breaks(sound) }, terms))) break;
    }
    expect(passed).toBeLessThan(30);
  });
});
