import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FenceExhaustedError } from '@fencepost/lease';
import type { AcquireRequest, Fence, LeaseStore } from '@fencepost/lease';
import { ABOVE_THE_CLOCK, TTL_MS, request, win as winOf } from '../support/lease-requests.js';

/** What a store's spec has to offer, so that the contract can drive it. */
export interface LeaseStoreHarness {
  /** Empty, and nobody else's. */
  readonly store: LeaseStore;
  /** Lets the store's time pass until nobody holds `resource`: by its own expiry, never by deleting. */
  untilFree(resource: string): Promise<void>;
  /** Makes the store's wall clock go back by `ms`, as far as the lease on `resource` is concerned. */
  clockGoesBack(resource: string, ms: number): Promise<void>;
  /** Makes the store forget everything, fences included. */
  lose(): Promise<void>;
  close(): Promise<void>;
}

/** The one suite that every lease store passes. */
export function leaseStoreContract(name: string, makeHarness: () => Promise<LeaseStoreHarness>): void {
  describe(`${name} keeps the lease contract`, () => {
    let harness: LeaseStoreHarness;
    let store: LeaseStore;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.store;
    });
    afterEach(() => harness.close());

    const win = (over?: Partial<AcquireRequest>) => winOf(store, over);
    const left = async () => (await store.inspect(['r']))[0]?.remainingMs;

    describe('acquire', () => {
      it('gives a free resource to who asks first, with a fence', async () => {
        expect(await store.acquire(request())).toEqual({ acquired: true, fence: expect.any(Number) });
      });

      it('tells the second one how long the holder has left', async () => {
        await win();
        const reply = await store.acquire(request());
        expect(reply).toEqual({ acquired: false, remainingMs: expect.any(Number) });
        expect(reply).toHaveProperty(
          'remainingMs',
          expect.toSatisfy((ms: number) => ms > TTL_MS / 2 && ms <= TTL_MS),
        );
      });

      it('lets one of a hundred contenders win', async () => {
        const replies = await Promise.all(Array.from({ length: 100 }, () => store.acquire(request())));
        expect(replies.filter(({ acquired }) => acquired)).toHaveLength(1);
      });

      it('keeps resources apart', async () => {
        await win({ resource: 'a' });
        expect(await store.acquire(request({ resource: 'b' }))).toMatchObject({ acquired: true });
      });

      it('issues no fence to a contender that fails', async () => {
        const first = await win({ floor: ABOVE_THE_CLOCK });
        for (let n = 0; n < 5; n++) expect(await store.acquire(request())).toMatchObject({ acquired: false });
        await store.release([first]);
        expect((await win()).fence).toBe(ABOVE_THE_CLOCK + 2);
      });

      it('gives the same answer to the same nonce, and consumes no second fence', async () => {
        const asked = request({ floor: ABOVE_THE_CLOCK });
        const first = await store.acquire(asked);
        expect(await store.acquire(asked)).toEqual(first);
        await store.release([asked]);
        expect((await win()).fence).toBe(ABOVE_THE_CLOCK + 2);
      });

      it.each([
        ['a ttl of 0', { ttlMs: 0 }],
        ['a ttl with a fraction', { ttlMs: 1.5 }],
        ['a ttl that is no number', { ttlMs: Number.NaN }],
        ['a negative floor', { floor: -1 as Fence }],
      ])('refuses %s and writes nothing', async (_what, over) => {
        await expect(store.acquire(request(over))).rejects.toThrow(RangeError);
        expect(await store.inspect(['r'])).toEqual([null]);
      });

      it('counts the ttl anew when the same nonce asks again', async () => {
        const asked = request({ ttlMs: TTL_MS / 2 });
        await store.acquire(asked);
        await store.acquire({ ...asked, ttlMs: TTL_MS });
        expect(await left()).toBeGreaterThan(TTL_MS / 2);
      });

      it('frees the resource when the ttl is over', async () => {
        await win({ ttlMs: 50 });
        await harness.untilFree('r');
        expect(await store.acquire(request())).toMatchObject({ acquired: true });
      });

      it('cuts what a clock that went back has left over, so that nobody waits for it', async () => {
        await win();
        await harness.clockGoesBack('r', 10 * TTL_MS);
        const reply = await store.acquire(request());
        expect(reply).toHaveProperty(
          'remainingMs',
          expect.toSatisfy((ms: number) => ms <= TTL_MS),
        );
        expect(await left()).toBeLessThanOrEqual(TTL_MS);
      });

      it('does not cut a healthy term because a contender asks for a shorter one', async () => {
        await win();
        await store.acquire(request({ ttlMs: 50 }));
        expect(await left()).toBeGreaterThan(TTL_MS / 2);
      });
    });

    describe('the fence', () => {
      it('increases over releases', async () => {
        const first = await win();
        await store.release([first]);
        expect((await win()).fence).toBeGreaterThan(first.fence);
      });

      it('increases over expiries', async () => {
        const first = await win({ ttlMs: 50 });
        await harness.untilFree('r');
        expect((await win()).fence).toBeGreaterThan(first.fence);
      });

      it('is larger than the floor', async () => {
        expect((await win({ floor: ABOVE_THE_CLOCK })).fence).toBeGreaterThan(ABOVE_THE_CLOCK);
      });

      it('increases after the store has lost everything', async () => {
        const first = await win();
        await harness.lose();
        expect((await win()).fence).toBeGreaterThan(first.fence);
      });

      it('increases after the store has lost everything and its clock was wrong, when the floor is known', async () => {
        const first = await win({ floor: ABOVE_THE_CLOCK });
        await harness.lose();
        expect((await win({ floor: first.fence })).fence).toBeGreaterThan(first.fence);
      });

      it('ends at 2^53 - 1 with an error and not with a smaller number, and nobody holds the resource then', async () => {
        const floor = Number.MAX_SAFE_INTEGER as Fence;
        await expect(store.acquire(request({ floor }))).rejects.toThrow(FenceExhaustedError);
        expect(await store.inspect(['r'])).toEqual([null]);
      });
    });

    describe('renew', () => {
      it('extends the current term to the ttl asked for', async () => {
        const term = await win({ ttlMs: TTL_MS / 2 });
        expect(await store.renew([term], TTL_MS)).toEqual([true]);
        expect(await left()).toBeGreaterThan(TTL_MS / 2);
      });

      it('changes nothing for a stale holder, and says so', async () => {
        const stale = await win({ ttlMs: 50 });
        await harness.untilFree('r');
        await win({ holder: 'pod/2' });
        expect(await store.renew([stale], 100 * TTL_MS)).toEqual([false]);
        expect(await store.inspect(['r'])).toMatchObject([{ holder: 'pod/2' }]);
        expect(await left()).toBeLessThanOrEqual(TTL_MS);
      });

      it('never creates a term: not after expiry, not after release, not for a resource nobody had', async () => {
        const expired = await win({ resource: 'a', ttlMs: 50 });
        await harness.untilFree('a');
        const released = await win({ resource: 'b' });
        await store.release([released]);
        const unknown = { resource: 'c', nonce: 'n' };
        expect(await store.renew([expired, released, unknown], TTL_MS)).toEqual([false, false, false]);
        expect(await store.inspect(['a', 'b', 'c'])).toEqual([null, null, null]);
      });

      it('answers a mixed batch in the order given', async () => {
        const mine = await win({ resource: 'a' });
        const other = { resource: 'b', nonce: 'not-the-one' };
        await win({ resource: 'b' });
        const last = await win({ resource: 'c' });
        expect(await store.renew([mine, other, last], TTL_MS)).toEqual([true, false, true]);
        expect(await store.renew([], TTL_MS)).toEqual([]);
      });

      it('answers a batch larger than any script should be, in the order given', async () => {
        const terms = await Promise.all(Array.from({ length: 1_100 }, (_, n) => win({ resource: `r${n}` })));
        await store.release(terms.filter((_, n) => n % 3 === 0));
        expect(await store.renew(terms, TTL_MS)).toEqual(terms.map((_, n) => n % 3 !== 0));
      });
    });

    describe('release', () => {
      it('frees the resource at once', async () => {
        expect(await store.release([await win()])).toEqual([true]);
        expect(await store.acquire(request())).toMatchObject({ acquired: true });
      });

      it('changes nothing for a stale holder, and says so', async () => {
        const stale = await win({ ttlMs: 50 });
        await harness.untilFree('r');
        await win({ holder: 'pod/2' });
        expect(await store.release([stale])).toEqual([false]);
        expect(await store.inspect(['r'])).toMatchObject([{ holder: 'pod/2' }]);
      });

      it('answers a mixed batch in the order given', async () => {
        const first = await win({ resource: 'a' });
        const last = await win({ resource: 'c' });
        const unknown = { resource: 'b', nonce: 'n' };
        expect(await store.release([first, unknown, last])).toEqual([true, false, true]);
        expect(await store.release([first, unknown, last])).toEqual([false, false, false]);
        expect(await store.release([])).toEqual([]);
      });

      it('is announced, unless it was a stale one', async () => {
        const announced: string[] = [];
        const stop = await store.watchReleases((resource) => announced.push(resource));
        await win({ resource: 'held' });
        await store.release([{ resource: 'held', nonce: 'stale' }]);
        await store.release([await win({ resource: 'freed' })]);
        await vi.waitFor(() => expect(announced).toContain('freed'));
        expect(announced).toEqual(['freed']);
        await stop();
      });
    });

    describe('inspect', () => {
      it('shows holder, fence and what is left, and nothing for a free resource', async () => {
        const { fence } = await win({ resource: 'a', holder: 'pod/7' });
        const [held, free] = await store.inspect(['a', 'b']);
        expect(held).toEqual({ holder: 'pod/7', fence, remainingMs: expect.any(Number) });
        expect(held?.remainingMs).toBeGreaterThan(TTL_MS / 2);
        expect(free).toBeNull();
      });
    });
  });
}
