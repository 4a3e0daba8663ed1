import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseStoreDouble } from './lease-store-double.stage.js';
import { LeaseLostError } from '../base/errors.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';
import { currentLease } from './current-lease.js';
import { Leases } from './leases.js';

const TTL_MS = 12_000;

let clock: ManualClock;
let memory: MemoryLeaseStore;
let store: LeaseStoreDouble;
let ours: Leases;
let theirs: Leases;

beforeEach(() => {
  clock = new ManualClock();
  memory = new MemoryLeaseStore({ clock });
  store = new LeaseStoreDouble(memory);
  const options = { clock, ttl: TTL_MS, random: () => 0.5 };
  ours = new Leases({ ...options, store, holder: 'ours/1' });
  theirs = new Leases({ ...options, store: memory, holder: 'theirs/1' });
});

describe('leases.tryAcquire', () => {
  it('gives a free resource at once, and null while somebody else has it', async () => {
    const lease = await ours.tryAcquire({ type: 'invoice', id: 42 });
    const acquiredAt = new Date(clock.now());
    expect(lease).toMatchObject({ resource: 'invoice:42', holder: 'ours/1', ttlMs: TTL_MS, acquiredAt });
    expect(await theirs.tryAcquire('invoice:42')).toBeNull();
  });

  it.each([
    [{ ttl: '1 minute' }, 'Expected a duration'],
    [{ ttl: '1ms' }, "Expected a ttl from '300ms' to '1h'"],
    [{ maxHold: 0 }, 'Expected a maxHold above 0'],
  ])('refuses %j with a sentence', async (options, sentence) => {
    await expect(ours.tryAcquire('r', options)).rejects.toThrow(sentence);
  });
});

describe('leases.acquire', () => {
  it('gets in as soon as a release is announced, long before it would ask again', async () => {
    const held = await theirs.acquire('r');
    const waiting = ours.acquire('r', { wait: '1h' });
    // Far into the waiting, where the pauses are two seconds long.
    await clock.advance(9_000);
    const before = store.countOf('acquire');
    await held.release();
    await clock.advance(10);
    expect((await waiting).holder).toBe('ours/1');
    expect(store.countOf('acquire')).toBe(before + 1);
  });

  it('lets whoever asks first after a release in, where the store does not serve in order', async () => {
    const held = await theirs.acquire('r');
    const waiting = ours.acquire('r', { wait: '1m' }).catch((error: unknown) => error);
    await clock.advance(9_000);
    await held.release();
    expect(await theirs.tryAcquire('r')).toMatchObject({ holder: 'theirs/1' });
    await clock.advance(60_000);
    expect(await waiting).toMatchObject({ code: 'LEASE_BUSY', waitedMs: 60_000 });
  });

  it('has its turn in a store that serves in order, although the holder asks again at once', async () => {
    const third = new Leases({ clock, ttl: TTL_MS, random: () => 0.5, store: memory, holder: 'third/1' });
    const held = await theirs.acquire('r');
    const waiting = third.acquire('r', { wait: '1m' });
    await clock.advance(9_000);
    await held.release();
    const again = theirs.acquire('r', { wait: '1m' });
    await clock.advance(10);
    const next = await waiting;
    await next.release();
    await clock.advance(10);
    expect((await again).fence).toBeGreaterThan(next.fence);
  });

  it('leaves the queue with its signal, so that the store keeps nothing for it', async () => {
    const third = new Leases({ clock, ttl: TTL_MS, random: () => 0.5, store: memory, holder: 'third/1' });
    const held = await theirs.acquire('r');
    const end = new AbortController();
    const waiting = third.acquire('r', { wait: '1m', signal: end.signal }).catch((error: unknown) => error);
    await clock.advance(9_000);
    end.abort(new Error('not needed any more'));
    expect(await waiting).toBe(end.signal.reason);
    await held.release();
    expect(await theirs.tryAcquire('r')).not.toBeNull();
  });

  it('asks at growing intervals, never in a spin', async () => {
    await theirs.acquire('r');
    const waiting = ours.acquire('r', { wait: '1m' }).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await waiting).toMatchObject({ code: 'LEASE_BUSY', resource: 'r', waitedMs: 60_000 });
    expect(store.countOf('acquire')).toBeLessThan(50);
    expect(store.countOf('acquire')).toBeGreaterThan(20);
  });

  it('ends with the reason of the signal, and leaves nothing behind', async () => {
    await theirs.acquire('r');
    const end = new AbortController();
    const waiting = ours.acquire('r', { signal: end.signal });
    await clock.advance(100);
    end.abort(new Error('not needed any more'));
    await expect(waiting).rejects.toThrow('not needed any more');
    await theirs.releaseAll();
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
    await expect(ours.acquire('r', { signal: end.signal })).rejects.toThrow('not needed any more');
  });

  it('waits through an outage of the store, and says what the store said when the time is over', async () => {
    store.next('acquire', ...Array<'fail'>(4).fill('fail'));
    const waiting = ours.acquire('r');
    await clock.advance(1_000);
    expect((await waiting).resource).toBe('r');
    store.next('acquire', ...Array<'fail'>(400).fill('fail'));
    const failing = ours.acquire('s', { wait: '2s' }).catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(await failing).toMatchObject({ message: 'Connection is closed.' });
  });
});

describe('leases.using', () => {
  it('runs the work under the lease and releases it, whether the work returns or throws', async () => {
    const fence = await ours.using('r', {}, async (lease) => {
      expect(await theirs.tryAcquire('r')).toBeNull();
      return lease.fence;
    });
    expect(fence).toBeGreaterThan(0);
    await expect(ours.using('r', {}, () => Promise.reject(new Error('the work failed')))).rejects.toThrow('the work');
    expect(await theirs.tryAcquire('r')).not.toBeNull();
  });

  it('tells the work at once when the lease is lost, and the caller whatever the work returns', async () => {
    const working = ours.using('r', {}, async ({ signal }) => {
      memory.clear();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'as if nothing had happened';
    });
    const outcome = working.catch((error: unknown) => error);
    await clock.advance(TTL_MS / 3);
    expect(await outcome).toBeInstanceOf(LeaseLostError);
  });

  it('keeps what the work threw as the cause of the loss', async () => {
    const failure = new Error('a write was refused');
    const working = ours.using('r', {}, async ({ signal }) => {
      memory.clear();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw failure;
    });
    const outcome = working.catch((error: unknown) => error);
    await clock.advance(TTL_MS / 3);
    expect(await outcome).toMatchObject({ code: 'LEASE_LOST', cause: failure });
  });

  it('does not release before the work has stopped, also after a loss', async () => {
    let stopWork = () => {};
    const working = ours.using('r', {}, () => new Promise<void>((resolve) => (stopWork = resolve)));
    await clock.advance(0);
    store.next('renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(TTL_MS - TTL_MS / 6);
    expect(store.countOf('release')).toBe(0);
    stopWork();
    await expect(working).rejects.toThrow(LeaseLostError);
    expect(store.countOf('release')).toBe(1);
  });

  it('makes the lease known to all that runs inside, the innermost first', async () => {
    expect(currentLease()).toBeUndefined();
    await ours.using('outer', {}, async (outer) => {
      await ours.using('inner', {}, async () => expect(currentLease()?.resource).toBe('inner'));
      expect(currentLease()).toBe(outer);
    });
  });

  it('fails for nothing that only the release failed at', async () => {
    store.next('release', 'fail');
    expect(await ours.using('r', {}, async () => 'done')).toBe('done');
  });
});

describe('a lease', () => {
  it('ends with the block it was declared in', async () => {
    {
      await using lease = await ours.acquire('r');
      expect(lease.signal.aborted).toBe(false);
    }
    expect(await theirs.tryAcquire('r')).not.toBeNull();
  });
});

describe('leases.acquireMany', () => {
  it('takes all or none, and what it could have had is free meanwhile', async () => {
    const held = await theirs.acquire('b');
    const waiting = ours.acquireMany(['a', 'b', 'c'], { wait: '1m' });
    await clock.advance(10);
    expect(await memory.inspect(['a', 'c'])).toEqual([null, null]);
    await held.release();
    await clock.advance(2_000);
    await using group = await waiting;
    expect(group.leases.map(({ resource }) => resource)).toEqual(['a', 'b', 'c']);
  });
});

describe('leases.close', () => {
  it('gives back all that is held and leaves no timer', async () => {
    await ours.acquire('a');
    await ours.acquire('b');
    await ours.close();
    expect(await memory.inspect(['a', 'b'])).toEqual([null, null]);
    expect(clock.pending).toBe(0);
  });
});
