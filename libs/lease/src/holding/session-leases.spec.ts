import { beforeEach, describe, expect, it } from 'vitest';
import { parseFence } from '../base/fence.js';
import { ALL_RELEASED } from '../store/lease-sessions.js';
import { LeaseKeeper } from './lease-keeper.js';
import { Leases } from './leases.js';
import { keeperStage, TTL_MS } from './keeper.stage.js';

/** `trustedUntil` less a sixth of the ttl: 12,000 − 120 − 2 − 2,000. */
const STOP_MS = 9_878;
const NOTHING = { acquired: false, remainingMs: 0 };

const opened = () => keeperStage({ sessions: true });
let { clock, memory, store, keeper, events, lost, ask, hold, isHeld, after } = opened();
beforeEach(() => void ({ clock, memory, store, keeper, events, lost, ask, hold, isHeld, after } = opened()));

describe('a keeper of leases under a session', () => {
  it('opens one session for all of a ttl, and renews them with one call, however many they are', async () => {
    const first = await hold('a', 'b');
    const rest = await hold(...Array.from({ length: 100 }, (_, n) => `r${n}`));
    const trusted = first[0]!.trustedUntil;
    await clock.advance(TTL_MS);
    expect(store.calls.map(({ call }) => call)).toEqual([
      ...['sessions.open', 'sessions.acquire', 'sessions.acquire'],
      ...['sessions.renew', 'sessions.renew', 'sessions.renew'],
    ]);
    expect(rest[99]!.trustedUntil).toBe(trusted + TTL_MS);
    expect(lost).toEqual([]);
    expect(clock.pending).toBe(2);
  });

  it('reports one event for a renewal, and one for each lease that begins or ends', async () => {
    await hold('a', 'b');
    await clock.advance(TTL_MS / 3);
    await keeper.releaseAll();
    const names = events.map(({ name }) => name);
    expect(names).toEqual([
      ...['lease.acquired', 'lease.acquired', 'session.extended', 'lease.released', 'lease.released'],
    ]);
    expect(events[2]).toEqual({ name: 'session.extended', holder: 'pod/1', ttlMs: TTL_MS, leases: 2 });
  });

  it('has another session for another ttl, and leases with a ttl of their own beside them', async () => {
    await hold('a');
    await keeper.tryAcquireMany([{ resource: 'b' }], { ttlMs: 2 * TTL_MS });
    const own = await keeper.tryAcquire('c', { ttlMs: TTL_MS });
    expect(own.acquired).toBe(true);
    await clock.advance(3 * TTL_MS);
    expect(store.countOf('sessions.open')).toBe(2);
    expect(store.countOf('renew')).toBe(9);
    expect(await isHeld('a', 'b', 'c')).toEqual([true, true, true]);
  });

  it('keeps above the floor of each, and says how long the others are held', async () => {
    await new LeaseKeeper({ store: memory, clock, holder: 'pod/2' }).tryAcquireMany([{ resource: 'b' }], {
      ttlMs: TTL_MS,
    });
    const floor = parseFence('8000000000000000');
    const wanted = [{ resource: 'a', floor }, { resource: 'b' }];
    const [a, b] = await keeper.tryAcquireMany(wanted, { ttlMs: TTL_MS });
    expect(a).toMatchObject({ acquired: true, lease: { fence: floor + 1 } });
    expect(b).toEqual({ acquired: false, remainingMs: TTL_MS });
  });

  it('closes the session when all are released, in one call that is announced', async () => {
    const [a] = await hold('a', 'b');
    const heard: string[] = [];
    await memory.watchReleases((resource) => void heard.push(resource));
    expect(await keeper.releaseAll()).toBe(2);
    expect([store.countOf('sessions.close'), store.countOf('release')]).toEqual([1, 0]);
    await clock.advance(0);
    expect(heard).toEqual([ALL_RELEASED]);
    expect(await isHeld('a', 'b')).toEqual([false, false]);
    expect([a!.signal.aborted, clock.pending, lost]).toEqual([true, 0, []]);
  });

  it('wakes those who wait for one of its leases when it closes the session', async () => {
    await hold('a');
    const waiting = new Leases({ store: memory, clock, ttl: TTL_MS, random: () => 0.5, holder: 'theirs/1' });
    const waited = waiting.acquire('a', { wait: '1m' });
    await clock.advance(1);
    await keeper.releaseAll();
    // Sooner than it would have asked by itself.
    await clock.advance(10);
    expect((await memory.inspect(['a']))[0]?.holder).toBe('theirs/1');
    await (await waited).release();
  });

  it('releases some of them by their nonces, and the others go on', async () => {
    const [a, b, c] = await hold('a', 'b', 'c');
    expect(await keeper.release([a!, c!])).toEqual([true, true]);
    expect(await b!.release()).toBe(true);
    expect(await isHeld('a', 'b', 'c')).toEqual([false, false, false]);
    expect(clock.pending).toBe(0);
  });

  it('uses its session again after the last lease is released, while it is trusted, and opens another one later', async () => {
    const [a] = await hold('a');
    await a!.release();
    await clock.advance(TTL_MS / 2);
    const [b] = await hold('b');
    expect(store.countOf('sessions.open')).toBe(1);
    await clock.advance(0);
    expect(store.countOf('sessions.renew')).toBe(1);
    await b!.release();
    await clock.advance(TTL_MS);
    expect(await hold('c')).toHaveLength(1);
    expect(store.countOf('sessions.open')).toBe(2);
  });

  it('refuses to extend one lease alone', async () => {
    const [a] = await hold('a');
    await expect(a!.extend('1m')).rejects.toThrow('has the ttl of its session');
    expect(a!.ttlMs).toBe(TTL_MS);
  });

  it('renews the session on demand', async () => {
    const held = await hold('a', 'b');
    expect(await keeper.renewNow(held)).toEqual([true, true]);
    expect(store.countOf('sessions.renew')).toBe(1);
  });
});

describe('the trust in a session', () => {
  const trustFrom = (sentAt: number) => sentAt + TTL_MS - TTL_MS / 100 - 2;

  it('is counted from when it was opened or renewed, however slow the replies', async () => {
    store.next('sessions.open', { heldBack: after(1_000) });
    const asked = hold('a');
    await clock.advance(1_000);
    const [lease] = await asked;
    expect(lease!.trustedUntil).toBe(trustFrom(0));
    store.next('sessions.renew', { heldBack: after(TTL_MS / 3 + 1_000) });
    await clock.advance(TTL_MS / 3 + 1_000);
    expect(lease!.trustedUntil).toBe(trustFrom(TTL_MS / 3));
  });

  it('is not shortened by an older reply that comes after a newer one', async () => {
    const [a] = await hold('a');
    store.next('sessions.renew', { heldBack: after((2 * TTL_MS) / 3 + 1_000) });
    await clock.advance((2 * TTL_MS) / 3 + 2_000);
    expect(a!.trustedUntil).toBe(trustFrom((2 * TTL_MS) / 3));
  });
});

describe('a session that the store no longer knows', () => {
  it('is lost with all its leases at the next renewal, each told once', async () => {
    const [a] = await hold('a', 'b');
    await memory.sessions.closeOf('b', (await memory.inspect(['b']))[0]!.fence);
    await clock.advance(TTL_MS / 3);
    expect(lost).toEqual([
      ['a', 'refused'],
      ['b', 'refused'],
    ]);
    expect(await a!.release()).toBe(false);
    expect([store.countOf('release'), clock.pending]).toEqual([0, 0]);
  });

  it('is replaced at once when it was idle, and the request is answered under the new one', async () => {
    const [a] = await hold('a');
    await a!.release();
    memory.clear();
    expect(await hold('b', 'c')).toHaveLength(2);
    expect(store.countOf('sessions.open')).toBe(2);
  });
});

describe('a session that could not be renewed', () => {
  it.each(['fail', 'hang'] as const)(
    'is lost a sixth of its ttl before the store ends it: calls that %s',
    async (how) => {
      const held = await hold('a', 'b');
      store.next('sessions.renew', ...Array<typeof how>(20).fill(how));
      await clock.advance(STOP_MS - 1);
      expect(held.map(({ signal }) => signal.aborted)).toEqual([false, false]);
      await clock.advance(1);
      expect(lost).toEqual([
        ['a', 'expired'],
        ['b', 'expired'],
      ]);
      expect((await memory.inspect(['a']))[0]!.remainingMs).toBeGreaterThanOrEqual(TTL_MS / 6);
      expect(clock.pending).toBe(0);
      expect(await held[0]!.release()).toBe(true);
    },
  );

  it('is asked again a bounded number of times, and reported once for each', async () => {
    await hold('a', 'b', 'c');
    store.next('sessions.renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(10 * TTL_MS);
    expect(store.countOf('sessions.renew')).toBeLessThanOrEqual(7);
    expect(store.countOf('sessions.renew')).toBeGreaterThanOrEqual(3);
    const failed = events.filter(({ name }) => name === 'session.extend-failed');
    expect(failed).toHaveLength(store.countOf('sessions.renew'));
  });

  it('goes on when the reply alone was lost', async () => {
    const [a] = await hold('a');
    store.next('sessions.renew', 'lose-reply');
    await clock.advance(10 * TTL_MS);
    expect(a!.signal.aborted).toBe(false);
  });

  it('is not revived by a reply that comes after it was given up', async () => {
    const [a] = await hold('a');
    const trusted = a!.trustedUntil;
    store.next('sessions.renew', { heldBack: after(STOP_MS + 500) }, 'hang', 'hang');
    await clock.advance(2 * TTL_MS);
    expect(lost).toEqual([['a', 'expired']]);
    expect(a!.trustedUntil).toBe(trusted);
    expect(clock.pending).toBe(0);
  });
});

describe('a machine that slept', () => {
  it('loses its sessions at the next look', async () => {
    await hold('a', 'b');
    clock.jumpWall(60_000);
    await clock.advance(TTL_MS / 3);
    expect(lost).toEqual([
      ['a', 'clock-jump'],
      ['b', 'clock-jump'],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('keeps no lease that is granted while it sleeps', async () => {
    store.next('sessions.acquire', { heldBack: after(1) });
    const asked = ask('a');
    await clock.advance(0);
    clock.jumpWall(60_000);
    await clock.advance(1);
    expect(await asked).toEqual([NOTHING]);
    expect(await isHeld('a')).toEqual([false]);
  });
});
