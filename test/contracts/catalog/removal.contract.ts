import { describe, expect, it } from 'vitest';
import type { Catalog, Declarer } from '@fencepost/ledger/catalog';
import {
  briefly,
  by,
  cron,
  DAY_MS,
  entryOf,
  gone,
  HOUR_MS,
  named,
  order,
  told,
  type MakeCatalogHarness,
} from './stage.js';

/** What becomes of a cron that no live pod declares. */
export function removalContract(makeHarness: MakeCatalogHarness): void {
  const withoutFirst = by(2, 'shop', { gone: [gone(1)] });

  async function declared() {
    const harness = await makeHarness();
    await harness.catalog.declare(named('a', 'b', 'c'), by(1));
    await harness.catalog.declare(named('b'), by(2));
    return harness;
  }

  async function dropped() {
    const harness = await declared();
    await harness.catalog.drop(['a'], withoutFirst);
    return harness;
  }

  async function undeclared(catalog: Catalog, declarer: Declarer): Promise<string[]> {
    const found = new Set<string>();
    let page = await catalog.listUndeclared(declarer);
    for (;;) {
      for (const name of page.crons) found.add(name);
      if (page.next === null) return [...found].toSorted();
      page = await catalog.listUndeclared(declarer, page.next);
    }
  }

  describe('a cron whose revision is gone', () => {
    it('is listed for its app, unless a live revision declares it too', async () => {
      const { catalog, elsewhere } = await declared();
      await catalog.declare(named('d'), by(1, 'mail'));
      await catalog.put(cron({ name: 'e' }), order(null));
      expect(await undeclared(elsewhere, withoutFirst)).toEqual(['a', 'c']);
      expect(await undeclared(elsewhere, by(2))).toEqual([]);
      expect(await undeclared(elsewhere, by(2, 'shop', { gone: [gone(1, 'mail'), gone(3)] }))).toEqual([]);
      expect(await undeclared(elsewhere, by(9, 'mail', { gone: [gone(1), gone(1, 'mail')] }))).toEqual(['d']);
    });

    it('is listed among 1,201', async () => {
      const { catalog } = await makeHarness();
      const many = Array.from({ length: 1_201 }, (_, n) => `cron-${String(n).padStart(4, '0')}`);
      await catalog.declare(named(...many), by(1));
      await catalog.declare(named(...many.slice(0, 1_199)), by(2));
      expect(await undeclared(catalog, withoutFirst)).toEqual(['cron-1199', 'cron-1200']);
    });

    it('is dropped from a moment in the future on, and keeps what it was', async () => {
      const { catalog, now } = await declared();
      const between = await now();
      expect(await catalog.drop(['c', 'a', 'unknown'], withoutFirst)).toEqual(['c', 'a']);
      expect(await briefly(catalog)).toEqual({
        a: 'removed 2 0 3 * * *',
        b: 'active 1 0 3 * * *',
        c: 'removed 2 0 3 * * *',
      });
      const { since, by: author, reason, past } = await entryOf(catalog, 'a');
      expect(since).toBeGreaterThanOrEqual(between + 2_000);
      expect([author, reason]).toEqual(['shop revision 2', 'no live pod declares it any more']);
      expect(past).toMatchObject([{ generation: 1, state: 'active' }]);
    });

    it('is dropped once, and raises the version once', async () => {
      const { catalog } = await dropped();
      const { version } = await catalog.read();
      expect(await catalog.drop(['a'], withoutFirst)).toEqual([]);
      expect(await undeclared(catalog, withoutFirst)).toEqual(['c']);
      expect((await catalog.read()).version).toBe(version);
    });

    it('is left alone when a live revision, another app or a person has it meanwhile', async () => {
      const { catalog } = await declared();
      await catalog.declare(named('d'), by(1, 'mail'));
      await catalog.put(cron({ name: 'e' }), order(null));
      expect(await catalog.drop(['b', 'd', 'e'], by(2, 'shop', { gone: [gone(1), gone(1, 'mail')] }))).toEqual([]);
      expect(await catalog.drop(['a', 'c'], by(2))).toEqual([]);
      expect(Object.values(await briefly(catalog)).every((text) => text.startsWith('active 1'))).toBe(true);
    });

    it('comes back when any revision declares it again', async () => {
      const { catalog, elsewhere } = await dropped();
      expect(told(await elsewhere.declare([cron({ name: 'a' })], by(1)))).toEqual({ a: 'restored' });
      expect(await entryOf(catalog, 'a')).toMatchObject({
        ...{
          generation: 3,
          state: 'active',
          by: 'shop revision 1',
          reason: 'declared again',
          app: 'shop',
          revision: 1,
        },
        past: [{ state: 'active' }, { state: 'removed' }],
      });
      expect(told(await catalog.declare(named('a'), by(1)))).toEqual({});
    });

    it('comes back when an operator removed it and a pod declares it again', async () => {
      const { catalog } = await declared();
      expect(await catalog.remove('a', order(1))).toMatchObject({ verdict: 'accepted' });
      expect(told(await catalog.declare(named('a'), by(1)))).toEqual({ a: 'restored' });
    });
  });

  describe('a tombstone', () => {
    it('is deleted a day after it was made, by the next declaration', async () => {
      const { catalog, age } = await dropped();
      await age(DAY_MS - HOUR_MS);
      await catalog.declare(named('b'), by(2));
      expect(Object.keys(await briefly(catalog))).toEqual(['a', 'b', 'c']);
      const { version } = await catalog.read();
      await age(2 * HOUR_MS);
      expect(told(await catalog.declare(named('b'), by(2)))).toEqual({});
      const reading = await catalog.read();
      expect(reading.entries.map(({ definition }) => definition.name)).toEqual(['b', 'c']);
      expect(reading.version).toBeGreaterThan(version);
    });

    it('of a cron that came back is none any more', async () => {
      const { catalog, age } = await dropped();
      await catalog.declare(named('a'), by(2));
      await age(2 * DAY_MS);
      await catalog.declare(named('b'), by(2));
      expect(await briefly(catalog)).toMatchObject({ a: 'active 3 0 3 * * *' });
    });
  });
}
