import { describe, expect, it } from 'vitest';
import { briefly, by, cron, DAY_MS, entryOf, named, told, order, OTHER, type MakeCatalogHarness } from './stage.js';

const ANA = { by: 'ana', reason: 'for the test' };
const puts = (...names: readonly string[]) => named(...names).map((declaration) => ({ declaration }));

/** Crons that are made and removed by the ten thousand. */
export function manyContract(makeHarness: MakeCatalogHarness): void {
  describe('many crons at once', () => {
    it('are accepted or refused each by itself, and answered in order', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare(named('a', 'b'), by(1));
      const replies = await catalog.putMany(
        [
          { declaration: cron({ name: 'a', ...OTHER }), expected: 1 },
          { declaration: cron({ name: 'b', ...OTHER }), expected: 7 },
          { declaration: cron({ name: 'c' }, true), expected: null },
          { declaration: cron({ name: 'd' }) },
        ],
        ANA,
      );
      expect(replies).toMatchObject([
        { verdict: 'accepted', generation: 2 },
        { verdict: 'moved', generation: 1 },
        { verdict: 'accepted', generation: 1 },
        { verdict: 'accepted', generation: 1 },
      ]);
      expect(await briefly(catalog)).toEqual({
        a: 'active 2 0 4 * * *',
        b: 'active 1 0 3 * * *',
        c: 'disabled 1 0 3 * * *',
        d: 'active 1 0 3 * * *',
      });
      expect(await entryOf(catalog, 'd')).toMatchObject({ ...ANA, app: null });
    });

    it('take 1,201 of them, and the same once more changes nothing', async () => {
      const { catalog } = await makeHarness();
      const many = puts(...Array.from({ length: 1_201 }, (_, n) => `cron-${n}`));
      const first = await catalog.putMany(many, ANA);
      expect(first.every(({ verdict }) => verdict === 'accepted')).toBe(true);
      const { version, entries } = await catalog.read();
      expect(entries).toHaveLength(1_201);
      const again = await catalog.putMany(many, ANA);
      expect(again).toEqual(many.map(() => ({ verdict: 'unchanged', generation: 1 })));
      expect((await catalog.read([])).version).toBe(version);
    });

    it('write those that differ: another content, another state, one that was removed', async () => {
      const { catalog } = await makeHarness();
      await catalog.putMany(puts('a', 'b', 'c', 'd'), ANA);
      await catalog.remove('c', order(1));
      const changes = [cron({ name: 'a', ...OTHER }), cron({ name: 'b' }, true), ...named('c', 'd')];
      const replies = await catalog.putMany(
        changes.map((declaration) => ({ declaration })),
        ANA,
      );
      expect(replies.map(({ verdict }) => verdict)).toEqual(['accepted', 'accepted', 'accepted', 'unchanged']);
    });

    it('are one hint to whoever watches', async () => {
      const { catalog, elsewhere } = await makeHarness();
      let hints = 0;
      const stop = await elsewhere.watch(() => void (hints += 1));
      await catalog.putMany(puts('a', 'b', 'c'), ANA);
      await expect.poll(() => hints).toBe(1);
      await catalog.putMany(puts('a', 'b', 'c'), ANA);
      await catalog.removeMany([{ cron: 'a' }, { cron: 'b' }], ANA);
      await expect.poll(() => hints).toBe(2);
      await stop();
    });

    it('are removed, and one that is gone already is no failure', async () => {
      const { catalog } = await makeHarness();
      await catalog.putMany(puts('a', 'b', 'c'), ANA);
      const crons = [{ cron: 'a' }, { cron: 'b', expected: 1 }, { cron: 'c', expected: 2 }, { cron: 'd' }];
      expect(await catalog.removeMany(crons, ANA)).toMatchObject([
        { verdict: 'accepted', generation: 2 },
        { verdict: 'accepted', generation: 2 },
        { verdict: 'moved', generation: 1 },
        { verdict: 'unchanged', generation: null },
      ]);
      expect(await catalog.removeMany([{ cron: 'a' }], ANA)).toEqual([{ verdict: 'unchanged', generation: null }]);
      expect(await briefly(catalog)).toMatchObject({ a: 'removed 2 0 3 * * *', c: 'active 1 0 3 * * *' });
    });

    it('take a name that comes twice as two changes, one after the other', async () => {
      const { catalog } = await makeHarness();
      const twice = [cron({ name: 'a' }), cron({ name: 'a', ...OTHER })].map((declaration) => ({ declaration }));
      const generations = [{ generation: 1 }, { generation: 2 }];
      expect(await catalog.putMany(twice, ANA)).toMatchObject(generations);
      expect(await briefly(catalog)).toEqual({ a: 'active 2 0 4 * * *' });
    });

    it('are none without a change', async () => {
      const { catalog } = await makeHarness();
      expect([await catalog.putMany([], ANA), await catalog.removeMany([], ANA)]).toEqual([[], []]);
    });
  });

  describe('a catalog with a limit', () => {
    it('refuses a new cron beyond it, and none that is there', async () => {
      const { catalog } = await makeHarness({ maxCrons: 2 });
      const full = { verdict: 'full', count: 2, limit: 2 };
      const replies = await catalog.putMany(puts('a', 'b', 'c'), ANA);
      expect(replies.at(-1)).toEqual(full);
      expect(replies.map(({ verdict }) => verdict)).toEqual(['accepted', 'accepted', 'full']);
      expect(await catalog.put(cron({ name: 'c' }), order(null))).toEqual(full);
      expect(await catalog.put(cron({ name: 'a', ...OTHER }), order(1))).toMatchObject({ verdict: 'accepted' });
      expect(Object.keys(await briefly(catalog))).toEqual(['a', 'b']);
    });

    it('has room again after a removal, before the tombstone is deleted', async () => {
      const { catalog, age } = await makeHarness({ maxCrons: 1 });
      await catalog.putMany(puts('a'), ANA);
      await catalog.remove('a', order(1));
      expect(await catalog.put(cron({ name: 'b' }), order(null))).toMatchObject({ verdict: 'accepted' });
      expect(await catalog.put(cron({ name: 'a' }), order(null))).toMatchObject({ verdict: 'full' });
      await age(2 * DAY_MS);
      await catalog.remove('b', order(1));
      expect(await catalog.put(cron({ name: 'a' }), order(null))).toMatchObject({ verdict: 'accepted' });
    });

    it('counts what code declares, and refuses none of it', async () => {
      const { catalog } = await makeHarness({ maxCrons: 1 });
      expect(told(await catalog.declare(named('a', 'b'), by(1)))).toEqual({ a: 'created', b: 'created' });
      expect(await catalog.put(cron({ name: 'c' }), order(null))).toMatchObject({ verdict: 'full', count: 2 });
    });
  });
}
