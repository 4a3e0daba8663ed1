import { describe, expect, it } from 'vitest';
import { briefly, build, cron, entryOf, named, NOTHING, order, OTHER, type MakeCatalogHarness } from './stage.js';

/** What two programs may declare beside each other. */
export function sourcesContract(makeHarness: MakeCatalogHarness): void {
  async function declared() {
    const harness = await makeHarness();
    await harness.catalog.declare(named('shared', 'own'), build(5, 'shop'));
    return harness;
  }

  describe('another program', () => {
    it('counts its builds for itself', async () => {
      const { catalog } = await declared();
      expect(await catalog.declare(named('bill'), build(1, 'billing'))).toEqual({ ...NOTHING, changed: ['bill'] });
      expect(await catalog.declare(named('shared'), build(4, 'shop'))).toEqual({ ...NOTHING, older: ['shared'] });
      expect(await catalog.declare(named('bill'), build(0, 'billing'))).toEqual({ ...NOTHING, older: ['bill'] });
    });

    it('shares a cron that it declares with the same content, and the owner stays', async () => {
      const { catalog } = await declared();
      const before = await entryOf(catalog, 'shared');
      expect(await catalog.declare(named('shared'), build(9, 'billing'))).toEqual(NOTHING);
      expect(await entryOf(catalog, 'shared')).toEqual(before);
      // Leaving it out later is no removal either.
      expect(await catalog.declare(named('bill'), build(10, 'billing'))).toEqual({ ...NOTHING, changed: ['bill'] });
      expect(await entryOf(catalog, 'shared')).toEqual(before);
    });

    it.each([1, 5, 9])('with build %d is refused another content, and told whose cron it is', async (seq) => {
      const { catalog } = await declared();
      const declaration = cron({ name: 'shared', ...OTHER });
      const told = { cron: 'shared', buildSeq: seq, source: 'shop', code: 'DEFINITION_CONFLICT' };
      const declaring = catalog.declare([declaration], build(seq, 'billing'));
      await expect(declaring).rejects.toThrow(expect.objectContaining(told));
      await expect(catalog.declare([declaration], build(seq, 'billing'))).rejects.toThrow('by the program "shop"');
    });

    it.each([
      ['the same', {}, '0 3 * * *'],
      ['another', OTHER, '0 4 * * *'],
    ])('adopts with %s content what its owner has left out', async (_what, over, expression) => {
      const { catalog } = await declared();
      await catalog.declare(named('own'), build(6, 'shop'));
      const taken = await catalog.declare([cron({ name: 'shared', ...over })], build(1, 'billing'));
      expect(taken).toEqual({ ...NOTHING, changed: ['shared'] });
      expect(await entryOf(catalog, 'shared')).toMatchObject({ source: 'billing', buildSeq: 1, state: 'firing' });
      expect(await briefly(catalog)).toMatchObject({ shared: `firing 3 ${expression}` });
      // It is none of the first owner's any more.
      expect(await catalog.declare(named('own'), build(7, 'shop'))).toEqual(NOTHING);
    });

    it('adopts with another content what a person has removed, and shares the removal with the same', async () => {
      const { catalog } = await declared();
      await catalog.remove('shared', order(1));
      expect(await catalog.declare(named('shared'), build(1, 'billing'))).toEqual(NOTHING);
      expect(await briefly(catalog)).toMatchObject({ shared: 'removed 2 0 3 * * *' });
      const other = [cron({ name: 'shared', ...OTHER })];
      expect(await catalog.declare(other, build(1, 'billing'))).toEqual({ ...NOTHING, changed: ['shared'] });
      expect(await entryOf(catalog, 'shared')).toMatchObject({ source: 'billing', state: 'firing', generation: 3 });
    });
  });
}
