import { describe, expect, it } from 'vitest';
import {
  briefly,
  build,
  cron,
  DAY_MS,
  entryOf,
  HOUR_MS,
  named,
  NOTHING,
  OTHER,
  type MakeCatalogHarness,
} from './stage.js';

/** What becomes of a cron that the next build leaves out. */
export function removalContract(makeHarness: MakeCatalogHarness): void {
  async function removed() {
    const harness = await makeHarness();
    await harness.catalog.declare(named('a', 'b'), build(1));
    await harness.catalog.declare(named('a'), build(2));
    return harness;
  }

  describe('a cron that a build leaves out', () => {
    it('fires no more, from a moment in the future on, and keeps what it was', async () => {
      const { catalog, now } = await makeHarness();
      await catalog.declare(named('a', 'b', 'c'), build(1));
      const between = await now();
      expect(await catalog.declare(named('b'), build(2))).toEqual({ ...NOTHING, removed: ['a', 'c'] });
      expect(await briefly(catalog)).toEqual({
        a: 'removed 2 0 3 * * *',
        b: 'active 1 0 3 * * *',
        c: 'removed 2 0 3 * * *',
      });
      const { since, by, past } = await entryOf(catalog, 'a');
      expect(since).toBeGreaterThanOrEqual(between + 2_000);
      expect(by).toBe('shop build 2');
      expect(past).toMatchObject([{ generation: 1, state: 'active' }]);
    });

    it('is removed once, and raises the version once', async () => {
      const { catalog } = await removed();
      const { version } = await catalog.read();
      expect(await catalog.declare(named('a'), build(2))).toEqual(NOTHING);
      expect(await catalog.declare(named('a'), build(3))).toEqual(NOTHING);
      expect((await catalog.read()).version).toBe(version);
    });

    it('is not brought back by older builds that declare it still', async () => {
      const { catalog } = await removed();
      expect(await catalog.declare(named('a', 'b'), build(1))).toEqual({ ...NOTHING, older: ['a', 'b'] });
      expect(await briefly(catalog)).toMatchObject({ b: 'removed 2 0 3 * * *' });
    });

    it('is left alone when nothing is declared at all: a process without crons knows nothing', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare(named('a'), build(1));
      expect(await catalog.declare([], build(2))).toEqual(NOTHING);
      expect(await briefly(catalog)).toEqual({ a: 'active 1 0 3 * * *' });
      // Nor is the build known by that.
      expect(await catalog.declare(named('a', 'b'), build(1))).toEqual({ ...NOTHING, changed: ['b'] });
    });

    it.each([
      ['with what it was', {}, '0 3 * * *'],
      ['with another content', OTHER, '0 4 * * *'],
    ])('comes back %s from the other half of the same build', async (_what, over, expression) => {
      const { catalog, elsewhere } = await removed();
      const half = [cron({ name: 'b', ...over })];
      expect(await elsewhere.declare(half, build(2))).toEqual({ ...NOTHING, changed: ['b'] });
      expect(await briefly(catalog)).toMatchObject({ b: `active 3 ${expression}` });
      expect(await catalog.declare(named('a'), build(2))).toEqual(NOTHING);
      expect(await elsewhere.declare(half, build(2))).toEqual(NOTHING);
      await expect(elsewhere.declare([cron({ name: 'b', graceMs: 1 })], build(2))).rejects.toThrow('same buildSeq 2');
    });

    it('comes back with a later build', async () => {
      const { catalog } = await removed();
      expect(await catalog.declare(named('a', 'b'), build(3))).toEqual({ ...NOTHING, changed: ['b'] });
      expect(await briefly(catalog)).toEqual({ a: 'active 1 0 3 * * *', b: 'active 3 0 3 * * *' });
      expect((await entryOf(catalog, 'b')).past).toMatchObject([{ state: 'active' }, { state: 'removed' }]);
    });

    it('stays while the crons of other programs and of people are none of its business', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare(named('a', 'b'), build(1));
      await catalog.declare(named('c'), build(1, 'other'));
      await catalog.put(cron({ name: 'd' }), { expected: null, by: 'ana', reason: null });
      expect(await catalog.declare(named('a'), build(2))).toEqual({ ...NOTHING, removed: ['b'] });
      expect(await briefly(catalog)).toMatchObject({ c: 'active 1 0 3 * * *', d: 'active 1 0 3 * * *' });
    });
  });

  describe('a tombstone', () => {
    it('is deleted a day after it was made, by whatever is declared later', async () => {
      const { catalog, age } = await removed();
      await age(DAY_MS - HOUR_MS);
      await catalog.declare(named('a'), build(2));
      expect(Object.keys(await briefly(catalog))).toEqual(['a', 'b']);
      const { version } = await catalog.read();
      await age(2 * HOUR_MS);
      expect(await catalog.declare(named('a'), build(2))).toEqual(NOTHING);
      const reading = await catalog.read();
      expect(reading.entries.map(({ definition }) => definition.name)).toEqual(['a']);
      expect(reading.version).toBeGreaterThan(version);
    });

    it('of a cron that came back is none any more', async () => {
      const { catalog, age } = await removed();
      await catalog.declare(named('b'), build(2));
      await age(2 * DAY_MS);
      await catalog.declare(named('a'), build(2));
      expect(await briefly(catalog)).toMatchObject({ b: 'active 3 0 3 * * *' });
    });
  });
}
