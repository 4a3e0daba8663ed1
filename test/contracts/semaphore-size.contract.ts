import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_FENCE } from '@fencepost/lease';
import type { SemaphoreStore } from '@fencepost/lease/coordination';
import type { AcquireRequest, HoldingsPage, ListedHolding } from '@fencepost/lease/store';
import { TTL_MS, request, win as winOf } from '../support/lease-requests.js';
import type { SemaphoreStoreHarness } from './semaphore-harness.js';

/** The part of the contract of semaphore stores that tells how many places there are, and who has them. */
export function semaphoreSizeContract(name: string, makeHarness: () => Promise<SemaphoreStoreHarness>): void {
  describe(`${name} keeps the contract on the size of a semaphore`, () => {
    let harness: SemaphoreStoreHarness;
    let store: SemaphoreStore;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.store;
    });
    afterEach(() => harness.close());

    const win = (over?: Partial<AcquireRequest>) => winOf(store, { places: 3, ...over });
    const ask = (over?: Partial<AcquireRequest>) => store.acquire(request({ places: 3, ...over }));
    const ttls = [TTL_MS, 2 * TTL_MS, 3 * TTL_MS];
    const fill = async () => [
      await win({ holder: 'pod/1', ttlMs: 2 * TTL_MS }),
      await win({ holder: 'pod/2', ttlMs: TTL_MS }),
      await win({ holder: 'pod/3', ttlMs: 3 * TTL_MS }),
    ];
    const about = (ms: number) => expect.toSatisfy((left: number) => left > ms - TTL_MS / 2 && left <= ms);

    describe('resize', () => {
      it('wins over what is asked for, upwards and downwards', async () => {
        await store.resize('r', 2);
        await win({ places: 1 });
        await win({ places: 1 });
        expect(await ask({ places: 9 })).toMatchObject({ acquired: false });
      });

      it('leaves it to those who ask again with null', async () => {
        await store.resize('r', 1);
        await win();
        expect(await ask()).toMatchObject({ acquired: false });
        await store.resize('r', null);
        expect(await ask()).toMatchObject({ acquired: true });
      });

      it('throws nobody out who has a place, and lets nobody in until it fits', async () => {
        const terms = await fill();
        await store.resize('r', 2);
        expect(await store.renew(terms, TTL_MS)).toEqual([true, true, true]);
        await store.release(terms.slice(0, 1));
        expect(await ask()).toMatchObject({ acquired: false });
        await store.release(terms.slice(1, 2));
        expect(await ask()).toMatchObject({ acquired: true });
        expect(await ask()).toMatchObject({ acquired: false });
      });

      it.each([
        [3, 0],
        [2, 1],
        [1, 2],
      ])('to %i places makes a contender wait until enough holders have left', async (places, last) => {
        await fill();
        await store.resize('r', places);
        expect(await ask()).toEqual({ acquired: false, remainingMs: about(ttls[last] ?? 0) });
      });

      it('upwards lets the next one in at once', async () => {
        await fill();
        await store.resize('r', 4);
        expect(await ask()).toMatchObject({ acquired: true });
        expect(await ask()).toMatchObject({ acquired: false });
      });

      it('is announced when there are more places than before, and not when there are fewer', async () => {
        const announced: string[] = [];
        const stop = await store.watchReleases((resource) => announced.push(resource));
        for (const resource of ['down', 'up']) await win({ resource });
        await store.resize('down', 2);
        await store.resize('up', 4);
        await store.resize('up', 3);
        await store.resize('up', null);
        await store.resize('down', null);
        await vi.waitFor(() => expect(announced).toContain('down'));
        expect(announced).toEqual(['up', 'down']);
        await stop();
      });

      it.each([0, -1, 1.5, 1_001, Number.NaN])('refuses %s places and changes nothing', async (places) => {
        await store.resize('r', 1);
        await expect(store.resize('r', places)).rejects.toThrow(RangeError);
        await win();
        expect(await ask()).toMatchObject({ acquired: false });
      });
    });

    describe('holders', () => {
      it('are shown in the order in which they got their places', async () => {
        const terms = await fill();
        expect(await store.holders('r')).toEqual([
          { holder: 'pod/1', fence: terms[0]?.fence, remainingMs: about(2 * TTL_MS), acquiredAt: expect.any(Number) },
          { holder: 'pod/2', fence: terms[1]?.fence, remainingMs: about(TTL_MS), acquiredAt: expect.any(Number) },
          { holder: 'pod/3', fence: terms[2]?.fence, remainingMs: about(3 * TTL_MS), acquiredAt: expect.any(Number) },
        ]);
      });

      it('whose term is over are not shown', async () => {
        await win({ places: 1, ttlMs: 50 });
        await harness.untilFree('r');
        expect(await store.holders('r')).toEqual([]);
      });
    });

    describe('list', () => {
      it('shows each held place, with the name of its resource', async () => {
        await fill();
        await win({ resource: 'other' });
        const items = await allOf(store);
        const shown = items.map(({ resource, holder }) => `${resource} ${holder}`);
        expect(shown.toSorted()).toEqual(['other pod/1', 'r pod/1', 'r pod/2', 'r pod/3']);
        const held = await store.holders('r');
        expect(items.filter(({ resource }) => resource === 'r').map(({ acquiredAt }) => acquiredAt)).toEqual(
          expect.arrayContaining(held.map(({ acquiredAt }) => acquiredAt)),
        );
      });
    });

    describe('evict', () => {
      it('frees exactly the place with this fence, and no other holder loses its own', async () => {
        const terms = await fill();
        const [first, second, third] = terms;
        expect(await store.evict?.('r', second?.fence ?? NO_FENCE)).toBe(true);
        expect(await store.renew(terms, TTL_MS)).toEqual([true, false, true]);
        expect((await store.holders('r')).map(({ fence }) => fence)).toEqual([first?.fence, third?.fence]);
        expect(await store.evict?.('r', second?.fence ?? NO_FENCE)).toBe(false);
        expect(await ask({ places: 3 })).toMatchObject({ acquired: true });
      });
    });

    describe('inspect', () => {
      it('shows nobody while a place is free, or when nobody has ever asked', async () => {
        await win();
        await win();
        expect(await store.inspect(['r', 'unknown'])).toEqual([null, null]);
      });

      it('shows of a full resource the holder whose end frees the next place', async () => {
        await fill();
        const [next, free] = await store.inspect(['r', 'unknown']);
        expect(next).toMatchObject({ holder: 'pod/2', fence: expect.any(Number), remainingMs: about(TTL_MS) });
        expect(free).toBeNull();
      });
    });
  });
}

/** Page after page: a server that others use as well may have nothing of it on the first, and the same on two. */
async function allOf(store: SemaphoreStore): Promise<ListedHolding[]> {
  const found = new Map<string, ListedHolding>();
  for (let after: string | null = null; ;) {
    const page: HoldingsPage | undefined = await store.list?.(after, 1_000);
    for (const item of page?.items ?? []) found.set(`${item.resource} ${item.fence}`, item);
    if (!page?.next) return [...found.values()];
    after = page.next;
  }
}
