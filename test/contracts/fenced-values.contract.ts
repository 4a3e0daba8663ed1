import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StaleFenceError, parseFence, type Fence, type LeaseEvent } from '@fencepost/lease';
import type { FenceGate, FencedValues } from '@fencepost/lease/sinks';

/** What a store's spec has to offer, so that the contract can drive it. */
export interface FencedValuesHarness {
  /** Empty, nobody else's, and called `cache` by metrics. */
  readonly values: FencedValues & FenceGate;
  /** What the store told about itself. */
  readonly events: readonly LeaseEvent[];
  /** Lets the store's time pass until the value has expired: by its own expiry, never by deleting. */
  untilExpired(key: string): Promise<void>;
  close(): Promise<void>;
}

const OLD = parseFence('1787654321123456');
const NEW = parseFence('1787654321123457');
const KEY = 'price:42';

/** The one suite that all stores of fenced values pass. */
export function fencedValuesContract(name: string, makeHarness: () => Promise<FencedValuesHarness>): void {
  describe(`${name} keeps the contract of fenced values`, () => {
    let harness: FencedValuesHarness;
    let values: FencedValuesHarness['values'];

    beforeEach(async () => {
      harness = await makeHarness();
      values = harness.values;
    });
    afterEach(() => harness.close());

    const refused = (work: Promise<unknown>) => expect(work).rejects.toThrowError(StaleFenceError);

    it('a value comes back with its fence and its age', async () => {
      await values.set(KEY, 'naïve 値', { fence: OLD });
      expect(await values.get(KEY)).toEqual({ value: 'naïve 値', fence: OLD, ageMs: expect.any(Number) });
      expect((await values.get(KEY))?.ageMs).toBeGreaterThanOrEqual(0);
      expect(await values.get('price:43')).toBeNull();
    });

    it('an equal and a larger fence overwrite', async () => {
      for (const [value, fence] of [
        ['a', OLD],
        ['b', OLD],
        ['c', NEW],
      ] as const) {
        await values.set(KEY, value, { fence });
        expect(await values.get(KEY)).toMatchObject({ value, fence });
      }
    });

    it('a fence that is lower by one changes nothing, and is counted for this store', async () => {
      await values.set(KEY, 'by the successor', { fence: NEW });
      await refused(values.set(KEY, 'by the one that was frozen', { fence: OLD }));
      expect(await values.get(KEY)).toMatchObject({ value: 'by the successor', fence: NEW });
      expect(harness.events).toEqual([{ name: 'fence.rejected', resource: KEY, downstream: 'cache', fence: OLD }]);
    });

    it('a stale writer is refused also after the value of its successor has expired', async () => {
      await values.set(KEY, 'by the successor', { fence: NEW, ttlMs: 30 });
      await harness.untilExpired(KEY);
      expect(await values.get(KEY)).toBeNull();
      await refused(values.set(KEY, 'by the one that was frozen', { fence: OLD }));
      expect(await values.get(KEY)).toBeNull();
    });

    it('the ttl of a value does not end the one that replaced it', async () => {
      await values.set(KEY, 'short', { fence: OLD, ttlMs: 30 });
      await values.set('price:43', 'short as well', { fence: OLD, ttlMs: 30 });
      await values.set(KEY, 'endless', { fence: OLD });
      await harness.untilExpired('price:43');
      expect(await values.get(KEY)).toMatchObject({ value: 'endless' });
    });

    it('keys are fenced each for itself, and two ways of writing one are one', async () => {
      await values.set(KEY, 'a', { fence: NEW });
      await values.set('price:43', 'b', { fence: OLD });
      expect(await values.get('price:43')).toMatchObject({ value: 'b' });
      await refused(values.set({ type: 'price', id: 42 }, 'c', { fence: OLD }));
    });

    it('an admitted fence keeps an older one out, from the gate and from the values', async () => {
      await values.admit(KEY, OLD);
      await values.admit(KEY, NEW);
      await values.admit(KEY, NEW);
      await refused(values.admit(KEY, OLD));
      await refused(values.set(KEY, 'stale', { fence: OLD }));
      await values.set(KEY, 'current', { fence: NEW });
      expect(harness.events).toHaveLength(2);
    });

    it.each([
      ['a ttl of 0', { fence: NEW, ttlMs: 0 }],
      ['a ttl with a fraction', { fence: NEW, ttlMs: 1.5 }],
      ['a negative fence', { fence: -1 as Fence }],
    ])('%s is refused and writes nothing', async (_what, options) => {
      await expect(values.set(KEY, 'x', options)).rejects.toThrow(RangeError);
      expect(await values.get(KEY)).toBeNull();
    });
  });
}
