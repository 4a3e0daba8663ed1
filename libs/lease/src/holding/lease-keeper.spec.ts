import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseStoreDouble } from './lease-store-double.stage.js';
import type { Lease } from './held-lease.js';
import { LeaseKeeper } from './lease-keeper.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';

const TTL_MS = 12_000;

let clock: ManualClock;
let memory: MemoryLeaseStore;
let store: LeaseStoreDouble;
let keeper: LeaseKeeper;

beforeEach(() => {
  clock = new ManualClock();
  memory = new MemoryLeaseStore({ clock });
  store = new LeaseStoreDouble(memory);
  keeper = new LeaseKeeper({ store, clock, holder: 'pod/1' });
});

async function hold(resource: string, ttlMs = TTL_MS): Promise<Lease> {
  const attempt = await keeper.tryAcquire(resource, { ttlMs });
  if (!attempt.acquired) throw new Error(`Expected to hold ${resource}.`);
  return attempt.lease;
}

function renewals(): string[][] {
  return store.calls.filter(({ call }) => call === 'renew').map(({ resources }) => resources);
}

describe('LeaseKeeper acquires', () => {
  it('a free resource, and hands out the lease with its fence, its holder and a live signal', async () => {
    const held = await hold('r');
    const [holding] = await memory.inspect(['r']);
    expect(held).toMatchObject({ resource: 'r', holder: 'pod/1', ttlMs: TTL_MS, fence: holding?.fence });
    expect(held.signal.aborted).toBe(false);
  });

  it('nothing that is held, and says what is left', async () => {
    await hold('r');
    await clock.advance(1_000);
    expect(await keeper.tryAcquire('r', { ttlMs: TTL_MS })).toEqual({ acquired: false, remainingMs: TTL_MS - 1_000 });
    expect(clock.pending).toBe(2);
  });

  it('counting trust from when the request was sent, not from when the reply came', async () => {
    store.next('acquire', { heldBack: after(3_000) });
    const attempt = hold('r');
    await clock.advance(3_000);
    expect((await attempt).trustedUntil).toBe(TTL_MS - TTL_MS / 100 - 2);
  });

  it('by asking again with the same nonce when a reply got lost, so that the lease is not lost with it', async () => {
    store.next('acquire', 'lose-reply');
    const held = await hold('r');
    expect(store.countOf('acquire')).toBe(2);
    expect((await memory.inspect(['r']))[0]?.fence).toBe(held.fence);
  });

  it('nothing and rejects while the store is unavailable, and releases what it may hold unknowingly', async () => {
    store.next('acquire', 'lose-reply', 'fail');
    await expect(keeper.tryAcquire('r', { ttlMs: TTL_MS })).rejects.toThrow('Connection is closed.');
    await clock.advance(0);
    expect(await memory.inspect(['r'])).toEqual([null]);
    expect(clock.pending).toBe(0);
  });

  it('nothing when the reply comes too late to act on, and gives it back', async () => {
    store.next('acquire', { heldBack: after(10_000) });
    const attempt = keeper.tryAcquire('r', { ttlMs: TTL_MS });
    await clock.advance(10_000);
    expect(await attempt).toEqual({ acquired: false, remainingMs: 0 });
    expect(await memory.inspect(['r'])).toEqual([null]);
    expect(clock.pending).toBe(0);
  });

  it('nothing when the machine slept while it waited for the reply, and gives it back', async () => {
    store.next('acquire', { heldBack: after(1_000) });
    const attempt = keeper.tryAcquire('r', { ttlMs: TTL_MS });
    clock.jumpWall(5_000);
    await clock.advance(1_000);
    expect(await attempt).toEqual({ acquired: false, remainingMs: 0 });
    expect(await memory.inspect(['r'])).toEqual([null]);
  });

  it.each([299, 3_600_001, 1.5, Number.NaN])('with no ttl of %d ms', async (ttlMs) => {
    await expect(keeper.tryAcquire('r', { ttlMs })).rejects.toThrow("Expected a ttl from '300ms' to '1h'");
  });
});

describe('LeaseKeeper renews', () => {
  it('every third of the ttl, and trusts the lease from when it asked', async () => {
    const held = await hold('r');
    await clock.advance(TTL_MS);
    expect(renewals()).toEqual([['r'], ['r'], ['r']]);
    expect(held.trustedUntil).toBe(TTL_MS + TTL_MS - TTL_MS / 100 - 2);
    expect(held.signal.aborted).toBe(false);
  });

  it('leases acquired at different times together, in one call and with one timer', async () => {
    await hold('a');
    await clock.advance(1_000);
    await hold('b');
    await clock.advance(1_000);
    await hold('c');
    expect(clock.pending).toBe(2);
    await clock.advance(TTL_MS / 3);
    expect(renewals()).toEqual([['a', 'b', 'c']]);
  });

  it('again after a twelfth of the ttl when the store was away, one by one', async () => {
    const held = [await hold('a'), await hold('b')];
    store.next('renew', 'fail');
    await clock.advance(TTL_MS / 3 + TTL_MS / 12);
    expect(renewals()).toEqual([['a', 'b'], ['a'], ['b']]);
    expect(held[0]?.trustedUntil).toBe(TTL_MS / 3 + TTL_MS / 12 + TTL_MS - TTL_MS / 100 - 2);
  });

  it('the leases a dead node does not have, while those it has run out', async () => {
    const [lost, kept] = [await hold('a'), await hold('b')];
    // The batch fails as long as one of its nodes is away; asked alone, only the lease on that node fails.
    store.renew = failingFor('a');
    await clock.advance(TTL_MS);
    expect(lost.signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
    expect(kept.signal.aborted).toBe(false);
  });
});

describe('LeaseKeeper releases', () => {
  it('what is still ours, says so, ends the signal and leaves no timer', async () => {
    const held = await hold('r');
    expect(await held.release()).toBe(true);
    expect(await memory.inspect(['r'])).toEqual([null]);
    expect(held.signal.reason).toHaveProperty('name', 'AbortError');
    expect(clock.pending).toBe(0);
  });

  it('all in one batch, and leaves no timer', async () => {
    const held = [await hold('a'), await hold('b'), await hold('c', 1_200)];
    expect(await keeper.releaseAll()).toBe(3);
    expect(store.calls.filter(({ call }) => call === 'release')).toEqual([
      { call: 'release', resources: ['a', 'b', 'c'] },
    ]);
    expect(held.every(({ signal }) => signal.aborted)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('what is still being acquired when all are released', async () => {
    store.next('acquire', { heldBack: after(100) });
    const attempt = keeper.tryAcquire('r', { ttlMs: TTL_MS });
    await keeper.releaseAll();
    await clock.advance(100);
    expect(await attempt).toEqual({ acquired: false, remainingMs: 0 });
    expect(await memory.inspect(['r'])).toEqual([null]);
  });
});

/** Resolves when the manual clock has been turned by `ms`. */
function after(ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

function failingFor(resource: string): LeaseStoreDouble['renew'] {
  return async (terms, ttlMs) => {
    if (terms.some((term) => term.resource === resource)) throw new Error('its node is away');
    return memory.renew(terms, ttlMs);
  };
}
