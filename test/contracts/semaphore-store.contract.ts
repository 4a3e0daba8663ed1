import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FenceExhaustedError, type Fence } from '@fencepost/lease';
import type { SemaphoreStore } from '@fencepost/lease/coordination';
import type { AcquireRequest } from '@fencepost/lease/store';
import { ABOVE_THE_CLOCK, TTL_MS, request, win as winOf } from '../support/lease-requests.js';
import type { SemaphoreStoreHarness } from './semaphore-harness.js';
import { semaphoreSizeContract } from './semaphore-size.contract.js';
import { semaphoreTermsContract } from './semaphore-terms.contract.js';

/** The one suite that every semaphore store passes, beside that of a lease store. */
export function semaphoreStoreContract(name: string, makeHarness: () => Promise<SemaphoreStoreHarness>): void {
  semaphoreSizeContract(name, makeHarness);
  semaphoreTermsContract(name, makeHarness);

  describe(`${name} keeps the semaphore contract`, () => {
    let harness: SemaphoreStoreHarness;
    let store: SemaphoreStore;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.store;
    });
    afterEach(() => harness.close());

    const win = (over?: Partial<AcquireRequest>) => winOf(store, { places: 2, ...over });
    const ask = (over?: Partial<AcquireRequest>) => store.acquire(request({ places: 2, ...over }));
    const names = async () => (await store.holders('r')).map(({ holder }) => holder);
    const left = async () => (await store.holders('r')).map(({ remainingMs }) => remainingMs);

    describe('acquire', () => {
      it('gives as many places as are asked for and not one more', async () => {
        await win({ places: 3 });
        await win({ places: 3 });
        await win({ places: 3 });
        expect(await ask({ places: 3 })).toMatchObject({ acquired: false });
        expect(await store.holders('r')).toHaveLength(3);
      });

      it('lets five of a hundred contenders for five places in, each with a fence of its own', async () => {
        const replies = await Promise.all(Array.from({ length: 100 }, () => ask({ places: 5 })));
        const fences = replies.flatMap((reply) => (reply.acquired ? [reply.fence] : []));
        expect(fences).toHaveLength(5);
        expect(new Set(fences).size).toBe(5);
      });

      it('tells who finds it full when the first place becomes free', async () => {
        await win({ ttlMs: 3 * TTL_MS });
        await win({ ttlMs: TTL_MS });
        const reply = await ask();
        expect(reply).toEqual({ acquired: false, remainingMs: expect.any(Number) });
        expect(reply).toHaveProperty(
          'remainingMs',
          expect.toSatisfy((ms: number) => ms > TTL_MS / 2 && ms <= TTL_MS),
        );
      });

      it('keeps resources apart', async () => {
        await win({ resource: 'a', places: 1 });
        expect(await ask({ resource: 'b', places: 1 })).toMatchObject({ acquired: true });
      });

      it('gives the same answer to the same nonce, and neither a second place nor a second fence', async () => {
        const asked = request({ places: 2, floor: ABOVE_THE_CLOCK });
        const first = await store.acquire(asked);
        expect(await store.acquire(asked)).toEqual(first);
        expect((await win()).fence).toBe(ABOVE_THE_CLOCK + 2);
        expect(await store.holders('r')).toHaveLength(2);
      });

      it('frees the place of a term that is over, and of no other', async () => {
        await win({ holder: 'stays' });
        await win({ holder: 'ends', ttlMs: 50 });
        await harness.untilFree('r');
        await win({ holder: 'comes' });
        expect(await ask()).toMatchObject({ acquired: false });
        expect(await names()).toEqual(['stays', 'comes']);
      });

      it.each([0, -1, 1.5, 1_001, Number.NaN])('refuses %s places and writes nothing', async (places) => {
        await expect(ask({ places })).rejects.toThrow(RangeError);
        expect(await store.holders('r')).toEqual([]);
      });
    });

    describe('the fence', () => {
      it('increases from place to place', async () => {
        const fences = [await win({ places: 3 }), await win({ places: 3 }), await win({ places: 3 })];
        expect(fences.map(({ fence }) => fence)).toEqual(fences.map(({ fence }) => fence).toSorted((a, b) => a - b));
        expect(new Set(fences.map(({ fence }) => fence)).size).toBe(3);
      });

      it('is one sequence for all places: who follows one holder is above all of them', async () => {
        const first = await win();
        const second = await win({ floor: ABOVE_THE_CLOCK });
        await store.release([first]);
        expect((await win()).fence).toBe(second.fence + 1);
      });

      it('is not issued to a contender that fails', async () => {
        const first = await win({ floor: ABOVE_THE_CLOCK });
        await win();
        for (let n = 0; n < 5; n++) expect(await ask()).toMatchObject({ acquired: false });
        await store.release([first]);
        expect((await win()).fence).toBe(ABOVE_THE_CLOCK + 3);
      });

      it('increases after all terms are over', async () => {
        const { fence } = await win({ places: 1, ttlMs: 50, floor: ABOVE_THE_CLOCK });
        await harness.untilFree('r');
        expect((await win({ places: 1 })).fence).toBe(fence + 1);
      });

      it('increases after the store has lost everything', async () => {
        const { fence } = await win();
        await harness.lose();
        expect((await win()).fence).toBeGreaterThan(fence);
      });

      it('ends at 2^53 - 1 with an error, and those who hold a place keep it', async () => {
        const first = await win({ holder: 'pod/1' });
        await expect(ask({ floor: Number.MAX_SAFE_INTEGER as Fence })).rejects.toThrow(FenceExhaustedError);
        expect(await names()).toEqual(['pod/1']);
        expect(await store.renew([first], TTL_MS)).toEqual([true]);
      });
    });

    describe('a clock that went back', () => {
      it('leaves no place to a dead holder for longer than its ttl', async () => {
        await win();
        await win();
        await harness.clockGoesBack('r', 10 * TTL_MS);
        expect(await ask()).toHaveProperty(
          'remainingMs',
          expect.toSatisfy((ms: number) => ms <= TTL_MS),
        );
        expect(Math.max(...(await left()))).toBeLessThanOrEqual(TTL_MS);
      });
    });
  });
}
