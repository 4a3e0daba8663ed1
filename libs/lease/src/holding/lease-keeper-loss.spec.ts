import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseStoreDouble } from './lease-store-double.stage.js';
import { LeaseLostError } from '../base/errors.js';
import type { LossReason } from '../base/errors.js';
import type { Lease } from './held-lease.js';
import { LeaseKeeper } from './lease-keeper.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';

const TTL_MS = 12_000;
/** `trustedUntil` less a sixth of the ttl: 12,000 − 120 − 2 − 2,000. */
const STOP_MS = 9_878;

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

async function hold(resource: string, ttlMs = TTL_MS, maxHoldMs?: number): Promise<Lease> {
  const attempt = await keeper.tryAcquire(resource, { ttlMs, maxHoldMs });
  if (!attempt.acquired) throw new Error(`Expected to hold ${resource}.`);
  return attempt.lease;
}

function expectLost(held: Lease, reason: LossReason): void {
  expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
  expect(held.signal.reason).toMatchObject({ reason, resource: held.resource });
}

describe('a lease that the store refuses to renew', () => {
  it('is lost at once, and takes no other with it', async () => {
    const [gone, kept] = [await hold('gone'), await hold('kept')];
    await memory.release([gone]);
    await clock.advance(TTL_MS / 3);
    expectLost(gone, 'refused');
    expect(kept.signal.aborted).toBe(false);
    expect(clock.pending).toBe(2);
  });

  it('needs no release, and its release says that it was not ours any more', async () => {
    const held = await hold('r');
    memory.clear();
    await clock.advance(TTL_MS / 3);
    expect(await held.release()).toBe(false);
    expect(store.countOf('release')).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe('a lease that may be held for a minute', () => {
  it('is lost then, although it was renewed all the time, and ends by itself within its ttl', async () => {
    const held = await hold('r', TTL_MS, 60_000);
    await clock.advance(59_999);
    expect(held.signal.aborted).toBe(false);
    await clock.advance(1);
    expectLost(held, 'max-hold');
    expect(store.countOf('release')).toBe(0);
    await clock.advance(TTL_MS);
    expect(await memory.inspect(['r'])).toEqual([null]);
    expect(clock.pending).toBe(0);
  });

  it('is lost before that when it cannot be renewed', async () => {
    const held = await hold('r', TTL_MS, 60_000);
    store.next('renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(STOP_MS);
    expectLost(held, 'expired');
  });
});

describe('a lease that could not be renewed', () => {
  it.each(['fail', 'hang'] as const)(
    'is lost a sixth of its ttl before the store ends it: calls that %s',
    async (how) => {
      const held = await hold('r');
      store.next('renew', ...Array<typeof how>(20).fill(how));
      await clock.advance(STOP_MS - 1);
      expect(held.signal.aborted).toBe(false);
      await clock.advance(1);
      expectLost(held, 'expired');
      expect((await memory.inspect(['r']))[0]?.remainingMs).toBeGreaterThanOrEqual(TTL_MS / 6);
      expect(clock.pending).toBe(0);
    },
  );

  it('is lost in time also after it was renewed for long', async () => {
    const held = await hold('r');
    await clock.advance(10 * TTL_MS);
    store.next('renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(STOP_MS - 1);
    expect(held.signal.aborted).toBe(false);
    await clock.advance(1);
    expectLost(held, 'expired');
    expect(clock.pending).toBe(0);
  });

  it('is retried a bounded number of times', async () => {
    await hold('r');
    store.next('renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(10 * TTL_MS);
    expect(store.countOf('renew')).toBeLessThanOrEqual(7);
    expect(store.countOf('renew')).toBeGreaterThanOrEqual(3);
  });

  it('is not released behind the back of the work that still has to stop', async () => {
    await hold('r');
    store.next('renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(STOP_MS);
    expect(store.countOf('release')).toBe(0);
    expect(await memory.inspect(['r'])).not.toEqual([null]);
  });

  it('can be released by its holder when the work has stopped', async () => {
    const held = await hold('r');
    store.next('renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(STOP_MS);
    expect(await held.release()).toBe(true);
    expect(await memory.inspect(['r'])).toEqual([null]);
  });

  it('is not revived by a reply that comes after it was given up', async () => {
    const held = await hold('r');
    const trusted = held.trustedUntil;
    store.next('renew', { heldBack: after(STOP_MS + 500) }, 'hang', 'hang');
    await clock.advance(STOP_MS);
    expectLost(held, 'expired');
    await clock.advance(TTL_MS);
    expect(held.signal.aborted).toBe(true);
    expect(held.trustedUntil).toBe(trusted);
    expect(clock.pending).toBe(0);
  });

  it('is trusted no longer because an older reply comes after a newer one', async () => {
    const held = await hold('r');
    store.next('renew', { heldBack: after(TTL_MS / 3 + 5_000) });
    await clock.advance((2 * TTL_MS) / 3);
    const trusted = held.trustedUntil;
    await clock.advance(5_000 - TTL_MS / 3);
    expect(held.trustedUntil).toBeGreaterThanOrEqual(trusted);
    expect(held.signal.aborted).toBe(false);
  });
});

describe('a machine that slept', () => {
  it('loses all its leases at the next look, because its deadlines lie too late', async () => {
    const held = [await hold('a'), await hold('b', 1_200)];
    clock.jumpWall(2_001);
    await clock.advance(400);
    for (const lease of held) expectLost(lease, 'clock-jump');
    expect(clock.pending).toBe(0);
  });

  it('loses them also when it wakes up in the middle of a renewal that succeeds', async () => {
    const held = await hold('r');
    store.next('renew', { heldBack: after(TTL_MS / 3 + 100) });
    await clock.advance(TTL_MS / 3);
    clock.jumpWall(60_000);
    await clock.advance(100);
    expectLost(held, 'clock-jump');
  });

  it('loses them when its wall clock was set back, which looks the same', async () => {
    const held = await hold('r');
    clock.jumpWall(-2_001);
    await clock.advance(TTL_MS / 3);
    expectLost(held, 'clock-jump');
  });

  it('keeps them over a correction of less than 2 s', async () => {
    const held = await hold('r');
    clock.jumpWall(1_999);
    await clock.advance(TTL_MS / 3);
    expect(held.signal.aborted).toBe(false);
  });

  it('can acquire again', async () => {
    await hold('a');
    clock.jumpWall(60_000);
    await clock.advance(TTL_MS / 3);
    expect((await hold('b')).signal.aborted).toBe(false);
  });
});

/** Resolves when the manual clock has been turned by `ms` from now. */
function after(ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}
