import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseStoreDouble } from './lease-store-double.stage.js';
import { LeaseLostError, SetupError } from '../base/errors.js';
import { trustedUntil } from '../store/grant.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import type { Lease } from './held-lease.js';
import { Leases } from './leases.js';

const TTL_MS = 12_000;
const LONGER_MS = 60_000;

let clock: ManualClock;
let memory: MemoryLeaseStore;
let store: LeaseStoreDouble;
let leases: Leases;
let events: LeaseEvent[];
let lease: Lease;

beforeEach(async () => {
  clock = new ManualClock();
  memory = new MemoryLeaseStore({ clock });
  store = new LeaseStoreDouble(memory);
  events = [];
  leases = new Leases({ store, clock, holder: 'pod/1', ttl: TTL_MS, observe: (event) => void events.push(event) });
  lease = await leases.acquire('r');
});

const leftMs = async () => (await memory.inspect(['r']))[0]?.remainingMs;

describe('lease.extend', () => {
  it('gives a longer ttl at once: to the store, to the trust window and to the lease', async () => {
    await clock.advance(1_000);
    await lease.extend('1m');
    expect(await leftMs()).toBe(LONGER_MS);
    expect([lease.ttlMs, lease.trustedUntil]).toEqual([LONGER_MS, trustedUntil(1_000, LONGER_MS)]);
    expect(events.at(-1)).toMatchObject({ name: 'lease.ttl-changed', resource: 'r', ttlMs: LONGER_MS });
  });

  it('renews every third of the new ttl, counted from the extension, and no more in the old rhythm', async () => {
    await clock.advance(1_000);
    await lease.extend(LONGER_MS);
    const before = store.countOf('renew');
    await clock.advance(LONGER_MS / 3 - 1);
    expect(store.countOf('renew')).toBe(before);
    await clock.advance(1);
    expect(store.countOf('renew')).toBe(before + 1);
    expect(clock.pending).toBe(2);
  });

  it('moves the deadline: the lease outlasts its old ttl, and stops a sixth of the new one before the end', async () => {
    await lease.extend(LONGER_MS);
    store.next('renew', ...Array<'fail'>(100).fill('fail'));
    const stopMs = LONGER_MS - LONGER_MS / 100 - 2 - LONGER_MS / 6;
    await clock.advance(stopMs - 1);
    expect(lease.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(lease.signal.reason).toMatchObject({ reason: 'expired' });
    expect(clock.pending).toBe(0);
  });

  it('takes nothing from the present end for a shorter ttl, and asks for it from then on', async () => {
    await lease.extend('3s');
    expect([await leftMs(), lease.trustedUntil]).toEqual([TTL_MS, trustedUntil(0, TTL_MS)]);
    await clock.advance(30_000);
    expect(await leftMs()).toBe(3_000);
    expect(lease.signal.aborted).toBe(false);
    await lease.release();
    expect(clock.pending).toBe(0);
  });

  it('leaves the lease as it was when the store does not answer', async () => {
    store.next('renew', 'fail');
    await expect(lease.extend('1m')).rejects.toThrow('Connection is closed.');
    expect([lease.ttlMs, await leftMs()]).toEqual([TTL_MS, TTL_MS]);
    const before = store.countOf('renew');
    await clock.advance(TTL_MS);
    expect(store.countOf('renew')).toBe(before + 3);
    expect(lease.signal.aborted).toBe(false);
  });

  it('trusts a renewal with the old ttl for no longer than that, though its reply comes after the extension', async () => {
    let answer = () => {};
    store.next('renew', { heldBack: new Promise((resolve) => (answer = resolve)) });
    await clock.advance(TTL_MS / 3);
    const extended = lease.extend(LONGER_MS);
    await clock.advance(0);
    await extended;
    const trusted = lease.trustedUntil;
    await clock.advance(1_000);
    answer();
    await clock.advance(0);
    expect(lease.trustedUntil).toBe(trusted);
  });

  it('says that the lease is lost: when it is, and when the store no longer knows the term', async () => {
    memory.clear();
    await expect(lease.extend('1m')).rejects.toThrow(LeaseLostError);
    expect(lease.signal.reason).toMatchObject({ reason: 'refused' });
    const asked = store.countOf('renew');
    await expect(lease.extend('1m')).rejects.toThrow(LeaseLostError);
    expect(store.countOf('renew')).toBe(asked);
    expect(clock.pending).toBe(0);
  });

  it('revives nothing that was released, also while the store is asked', async () => {
    const extending = lease.extend('1m');
    await lease.release();
    await expect(extending).rejects.toMatchObject({ code: 'LEASE_RELEASED' });
    expect([await leftMs(), clock.pending]).toEqual([undefined, 0]);
  });

  it.each(['299ms', '61m', 0, 'long'])('refuses a ttl of %j and asks nobody', async (ttl) => {
    await expect(lease.extend(ttl)).rejects.toThrow(SetupError);
    expect(store.countOf('renew')).toBe(0);
  });

  it('is followed by the advice: what fits is judged by the new ttl', async () => {
    await lease.extend('1m');
    expect(leases.ttlAdvice('r').ttlMs).toBe(LONGER_MS);
  });
});
