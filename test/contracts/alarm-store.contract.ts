import { Mutes } from '@fencepost/operations/internal';
import { describe, expect, it } from 'vitest';

type Swap = Readonly<Record<'was' | 'is', string | null>> & { readonly cron: string };

interface AlarmStore {
  read(crons: readonly string[]): Promise<{ readonly now: number; readonly records: readonly (string | null)[] }>;
  swap(swaps: readonly Swap[]): Promise<boolean[]>;
  names(): Promise<string[]>;
}

/** What a book's spec has to offer, so that the contract can drive it. */
export interface AlarmStoreHarness {
  /** Empty, and nobody else's. */
  readonly store: AlarmStore;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
}

/** The one suite that every book of alarms passes. */
export function alarmStoreContract(name: string, makeHarness: () => Promise<AlarmStoreHarness>): void {
  describe(`${name} keeps the contract of the book of alarms`, () => {
    it('answers with the clock of the store, and nothing of crons it does not know', async () => {
      const { store, now } = await makeHarness();
      const before = await now();
      const reading = await store.read(['a', 'b']);
      expect(reading.records).toEqual([null, null]);
      expect(reading.now).toBeGreaterThanOrEqual(before);
      expect(reading.now).toBeLessThanOrEqual(await now());
      expect(await store.names()).toEqual([]);
    });

    it('keeps mutes, by its own clock', async () => {
      const { store, now } = await makeHarness();
      const mutes = new Mutes(store);
      const before = await now();
      const order = { by: 'ada', reason: 'a test' };
      await Promise.all([
        mutes.set({ cron: 'a' }, { ...order, forMs: 60_000 }),
        new Mutes(store).set({ tag: 'a' }, { ...order, forMs: 90_000 }),
      ]);
      const [first, second] = await mutes.list();
      expect([first?.cron, second?.tag]).toEqual(['a', 'a']);
      expect(first?.until).toBeGreaterThanOrEqual(before + 60_000);
      expect(await mutes.end({ cron: 'a' })).toEqual(first);
      expect(await mutes.end({ tag: 'a' })).toEqual(second);
      expect(await store.names()).toEqual([]);
    });

    it('keeps what was written, in the order asked for', async () => {
      const { store } = await makeHarness();
      expect(
        await store.swap([
          { cron: 'a', was: null, is: '{"a":1}' },
          { cron: 'b', was: null, is: '{"b":1}' },
        ]),
      ).toEqual([true, true]);
      expect((await store.read(['b', 'none', 'a'])).records).toEqual(['{"b":1}', null, '{"a":1}']);
      expect((await store.names()).toSorted()).toEqual(['a', 'b']);
    });

    it('writes nothing for who has read something older, and the others of the same call', async () => {
      const { store } = await makeHarness();
      await store.swap([{ cron: 'a', was: null, is: 'one' }]);
      expect(
        await store.swap([
          { cron: 'a', was: null, is: 'mine' },
          { cron: 'b', was: null, is: 'mine' },
          { cron: 'a', was: 'one', is: 'two' },
        ]),
      ).toEqual([false, true, true]);
      expect((await store.read(['a', 'b'])).records).toEqual(['two', 'mine']);
    });

    it('forgets what is over', async () => {
      const { store } = await makeHarness();
      await store.swap([{ cron: 'a', was: null, is: 'one' }]);
      expect(await store.swap([{ cron: 'a', was: 'another', is: null }])).toEqual([false]);
      expect(await store.swap([{ cron: 'a', was: 'one', is: null }])).toEqual([true]);
      expect([await store.names(), (await store.read(['a'])).records]).toEqual([[], [null]]);
    });
  });
}
