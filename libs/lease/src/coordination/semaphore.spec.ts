import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseStoreDouble } from '../holding/lease-store-double.stage.js';
import { LeaseBusyError, LeaseLostError, SetupError } from '../base/errors.js';
import { ManualClock } from '../testing/manual-clock.js';
import { MemorySemaphoreStore } from './memory-semaphore-store.js';
import { Semaphores } from './semaphore.js';
import type { SemaphoreStore } from './semaphore-store.js';

const TTL_MS = 12_000;
const NAME = { type: 'printer', id: 3 };

/** A process of its own, as far as the store can tell. */
function newProcess(store: SemaphoreStore, holder: string): Semaphores {
  return new Semaphores({ store, clock, holder, ttl: TTL_MS, random: () => 0.5 });
}

let clock: ManualClock;
let store: MemorySemaphoreStore;
let ours: Semaphores;
let theirs: Semaphores;

beforeEach(() => {
  clock = new ManualClock();
  store = new MemorySemaphoreStore({ clock });
  ours = newProcess(store, 'ours');
  theirs = newProcess(store, 'theirs');
});

describe('a semaphore', () => {
  it('gives a place another ttl, and no other place', async () => {
    const [first] = [await ours.of(NAME, { places: 2 }).acquire(), await theirs.of(NAME, { places: 2 }).acquire()];
    await first.extend('1m');
    const left = (await ours.of(NAME, { places: 2 }).holders()).map(({ remainingMs }) => remainingMs);
    expect(left).toEqual([60_000, TTL_MS]);
    expect(first.ttlMs).toBe(60_000);
  });

  it('gives each holder a lease with a fence of its own, and null when all places are taken', async () => {
    const first = await ours.of(NAME, { places: 2 }).tryAcquire();
    const second = await theirs.of(NAME, { places: 2 }).tryAcquire();
    expect([first, second]).toMatchObject([
      { resource: 'printer:3', holder: 'ours' },
      { resource: 'printer:3', holder: 'theirs' },
    ]);
    expect(second?.fence).toBeGreaterThan(first?.fence ?? Number.POSITIVE_INFINITY);
    expect(await ours.of(NAME, { places: 2 }).tryAcquire()).toBeNull();
  });

  it('lets the next one in as soon as a place is released', async () => {
    const semaphore = theirs.of('r', { places: 2 });
    const leaves = await semaphore.acquire();
    await semaphore.acquire();
    const waiting = ours.of('r', { places: 2 }).acquire({ wait: '1h' });
    await clock.advance(9_000);
    await leaves.release();
    await clock.advance(10);
    expect((await waiting).holder).toBe('ours');
    await Promise.all([ours.close(), theirs.close()]);
  });

  it('frees the place of a holder that can not renew, after the holder has been told', async () => {
    const away: SemaphoreStore = Object.assign(new LeaseStoreDouble(store), {
      renew: () => Promise.reject(new Error('the store is away')),
      resize: store.resize.bind(store),
      holders: store.holders.bind(store),
    });
    const cutOff = await newProcess(away, 'cut off').of('r', { places: 2 }).acquire();
    await theirs.of('r', { places: 2 }).acquire();
    const told: number[] = [];
    cutOff.signal.addEventListener('abort', () => told.push(clock.monotonic()));
    const waiting = ours.of('r', { places: 2 }).acquire({ wait: '1m' });
    await clock.advance(2 * TTL_MS);
    expect((await waiting).holder).toBe('ours');
    expect(cutOff.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(told[0]).toBeLessThan(TTL_MS);
    expect(await ours.of('r', { places: 2 }).holders()).toMatchObject([{ holder: 'theirs' }, { holder: 'ours' }]);
    await Promise.all([ours.close(), theirs.close()]);
  });

  it('stops waiting with an error when all places were taken all the time', async () => {
    await theirs.of('r', { places: 1 }).acquire();
    const waiting = ours.of('r', { places: 1 }).acquire({ wait: '5s' });
    await Promise.all([expect(waiting).rejects.toThrow(LeaseBusyError), clock.advance(6_000)]);
    await Promise.all([ours.close(), theirs.close()]);
  });

  it('is as large as it was resized to, whatever a process was started with, until that is taken back', async () => {
    const semaphore = ours.of('r', { places: 1 });
    await semaphore.resize(2);
    await semaphore.acquire();
    await semaphore.acquire();
    await semaphore.resize(null);
    expect(await theirs.of('r', { places: 2 }).tryAcquire()).toBeNull();
    expect(await theirs.of('r', { places: 3 }).tryAcquire()).not.toBeNull();
    await Promise.all([ours.close(), theirs.close()]);
  });

  it.each([0, 1.5, 1_001, Number.NaN])('refuses %s places with a sentence', async (places) => {
    const sentence = `Expected places as a whole number from 1 to 1000, got ${places}.`;
    expect(() => ours.of('r', { places })).toThrow(new SetupError(sentence));
    await expect(ours.of('r', { places: 1 }).resize(places)).rejects.toThrow(new SetupError(sentence));
  });
});

describe('the semaphores of a process', () => {
  it('give back every place when they are closed, and leave no timer behind', async () => {
    await ours.of('a', { places: 2 }).acquire();
    await ours.of('a', { places: 2 }).acquire();
    await ours.of('b', { places: 1 }).acquire();
    await ours.close();
    expect(await Promise.all([store.holders('a'), store.holders('b')])).toEqual([[], []]);
    expect(clock.pending).toBe(0);
  });

  it('tell how many places were still theirs', async () => {
    await ours.of('a', { places: 1 }).acquire({ ttl: '1s' });
    await ours.of('b', { places: 1 }).acquire();
    store.clear();
    await ours.of('c', { places: 1 }).acquire();
    expect(await ours.releaseAll()).toBe(1);
  });
});
