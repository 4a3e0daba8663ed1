import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SemaphoreStore } from '@fencepost/lease/coordination';
import type { AcquireRequest } from '@fencepost/lease/store';
import { TTL_MS, win as winOf } from '../support/lease-requests.js';
import type { SemaphoreStoreHarness } from './semaphore-harness.js';

/** The part of the contract of semaphore stores that tells how a term goes on, and how it ends. */
export function semaphoreTermsContract(name: string, makeHarness: () => Promise<SemaphoreStoreHarness>): void {
  describe(`${name} keeps the contract on the terms of a semaphore`, () => {
    let harness: SemaphoreStoreHarness;
    let store: SemaphoreStore;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.store;
    });
    afterEach(() => harness.close());

    const win = (over?: Partial<AcquireRequest>) => winOf(store, { places: 2, ...over });
    const names = async () => (await store.holders('r')).map(({ holder }) => holder);
    const left = async () => (await store.holders('r')).map(({ remainingMs }) => remainingMs);

    describe('renew', () => {
      it('extends its own term and no other', async () => {
        const mine = await win({ ttlMs: TTL_MS });
        await win({ ttlMs: TTL_MS });
        expect(await store.renew([mine], 5 * TTL_MS)).toEqual([true]);
        expect(await left()).toEqual([
          expect.toSatisfy((ms: number) => ms > 4 * TTL_MS),
          expect.toSatisfy((ms: number) => ms <= TTL_MS),
        ]);
      });

      it('changes nothing for a stale holder, and says so', async () => {
        const stale = await win({ places: 1, ttlMs: 50 });
        await harness.untilFree('r');
        await win({ places: 1, holder: 'pod/2' });
        expect(await store.renew([stale], 100 * TTL_MS)).toEqual([false]);
        expect(await names()).toEqual(['pod/2']);
        expect(Math.max(...(await left()))).toBeLessThanOrEqual(TTL_MS);
      });

      it('creates no term beside those that are there', async () => {
        const expired = await win({ ttlMs: 50 });
        await win({ holder: 'stays' });
        await harness.untilFree('r');
        const released = await win();
        await store.release([released]);
        const unknown = { resource: 'r', nonce: 'n' };
        expect(await store.renew([expired, released, unknown], TTL_MS)).toEqual([false, false, false]);
        expect(await names()).toEqual(['stays']);
      });
    });

    describe('release', () => {
      it('frees one place, and the others stay taken', async () => {
        const mine = await win({ holder: 'leaves' });
        await win({ holder: 'stays' });
        expect(await store.release([mine])).toEqual([true]);
        await win({ holder: 'comes' });
        expect(await names()).toEqual(['stays', 'comes']);
      });

      it('changes nothing for a stale holder, and says so', async () => {
        const stale = await win({ places: 1, ttlMs: 50 });
        await harness.untilFree('r');
        await win({ places: 1, holder: 'pod/2' });
        expect(await store.release([stale])).toEqual([false]);
        expect(await names()).toEqual(['pod/2']);
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
  });
}
