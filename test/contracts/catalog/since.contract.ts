import { describe, expect, it } from 'vitest';
import { EFFECTIVE_AFTER_MS, readChanges, type Catalog, type CatalogChanges } from '@fencepost/ledger/catalog';
import { by, gone, cron, DAY_MS, named, order, OTHER, type CatalogHarness, type MakeCatalogHarness } from './stage.js';

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => cron({ name: `cron-${String(n).padStart(4, '0')}` }));

/** Names and generations of a delta, and what is gone. */
async function deltaAfter(catalog: Catalog, version: number | null) {
  const { entries, gone: deleted, whole } = await readChanges(catalog, version);
  const changed = [...entries.values()].map((entry) => `${entry.definition.name} ${entry.state} ${entry.generation}`);
  return { changed: changed.toSorted(), gone: deleted.toSorted(), whole };
}

const versionOf = async (catalog: Catalog) => (await catalog.read([])).version;

/** How readers follow a catalog whose size they must not pay for. */
export function sinceContract(makeHarness: MakeCatalogHarness): void {
  async function declared(): Promise<CatalogHarness & { version: number }> {
    const harness = await makeHarness();
    await harness.catalog.declare(named('a', 'b', 'c'), by(1));
    return { ...harness, version: await versionOf(harness.elsewhere) };
  }

  describe('a reader that knows a version', () => {
    it('gets nothing when nothing has changed, at the same version', async () => {
      const { elsewhere, version, now } = await declared();
      const before = await now();
      const page = await elsewhere.since(version);
      expect(page).toMatchObject({ version, entries: [], gone: [], next: null });
      expect(page?.readAt).toBeGreaterThanOrEqual(before);
      expect(page?.bornAt).toBe((await elsewhere.read([])).bornAt);
    });

    it('gets the crons that a person or a revision changed since then, as they are now, and no others', async () => {
      const { catalog, elsewhere, version } = await declared();
      await catalog.put(cron({ name: 'b', ...OTHER }), order(1));
      await catalog.put(cron({ name: 'b', graceMs: 5 }), order(2));
      expect(await deltaAfter(elsewhere, version)).toEqual({ changed: ['b active 3'], gone: [], whole: false });
      const { entries, version: next } = await readChanges(elsewhere, version);
      expect(entries.get('b')).toEqual((await elsewhere.read(['b'])).entries[0]);
      expect(next).toBe(await versionOf(elsewhere));
      await catalog.declare([...named('a'), cron({ name: 'b', ...OTHER })], by(2));
      await catalog.drop(['c'], by(2, 'shop', { gone: [gone(1)] }));
      expect(await deltaAfter(elsewhere, next)).toEqual({
        changed: ['b active 4', 'c removed 2'],
        gone: [],
        whole: false,
      });
    });

    it('gets a cron that was renumbered, and one that was removed', async () => {
      const { catalog, elsewhere, version } = await declared();
      await catalog.outgrow('a', 7);
      await catalog.remove('c', order(1));
      const changed = ['a active 8', 'c removed 2'];
      expect(await deltaAfter(elsewhere, version)).toEqual({ changed, gone: [], whole: false });
    });

    it('is told which crons are gone once their tombstones are deleted', async () => {
      const { catalog, elsewhere, age } = await declared();
      await catalog.remove('b', order(1));
      await age(2 * DAY_MS);
      const version = await versionOf(elsewhere);
      await catalog.put(cron({ name: 'd' }), order(null));
      expect(await deltaAfter(elsewhere, version)).toEqual({ changed: ['d active 1'], gone: ['b'], whole: false });
    });

    it('pages through what changed, and a change meanwhile comes on a later page', async () => {
      const { catalog, elsewhere, version } = await declared();
      await catalog.putMany(
        numbered(10).map((declaration) => ({ declaration })),
        { by: 'ana', reason: null },
      );
      const seen: string[][] = [];
      let page = await elsewhere.since(version, null, 4);
      await catalog.put(cron({ name: 'cron-0000', ...OTHER }), order(1));
      while (page) {
        seen.push(page.entries.map(({ definition, generation }) => `${definition.name} ${generation}`));
        if (page.next === null) break;
        page = await elsewhere.since(version, page.next, 4);
      }
      expect(page).toMatchObject({ version: await versionOf(elsewhere) });
      expect(seen.every((names) => names.length <= 4)).toBe(true);
      expect(seen.flat()).toContain('cron-0000 2');
      expect(new Set(seen.flat().map((text) => text.slice(0, 9))).size).toBe(10);
    });

    it('is told of the births and versions of a catalog that was lost, and reads all of it', async () => {
      const { catalog, elsewhere, version, wipe } = await declared();
      await wipe();
      expect(await elsewhere.since(version)).toBeNull();
      await catalog.declare(named('b'), by(1));
      expect(await elsewhere.since(version)).toBeNull();
      expect(await deltaAfter(elsewhere, version)).toEqual({ changed: ['b active 1'], gone: [], whole: true });
    });

    it('reads all of it when the version is not one that the catalog had', async () => {
      const { elsewhere, version } = await declared();
      expect(await elsewhere.since(version - 1_000_000)).toBeNull();
      expect(await elsewhere.since(version + 1_000_000)).toBeNull();
    });
  });

  describe('a reader that knows nothing', () => {
    it('gets an empty catalog as one page', async () => {
      const { catalog } = await makeHarness();
      const page: CatalogChanges | null = await catalog.since(null);
      expect(page).toMatchObject({ version: 0, entries: [], gone: [], next: null });
    });

    it('gets every cron, also what changes while it pages', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare(numbered(700), by(1));
      let first = true;
      const reader: Pick<Catalog, 'since'> = {
        since: async (version, after) => {
          const page = await elsewhere.since(version, after);
          if (first) {
            first = false;
            await catalog.put(cron({ name: 'cron-0003', ...OTHER }), order(1));
            await catalog.put(cron({ name: 'cron-9999' }), order(null));
          }
          return page;
        },
      };
      const { entries, version } = await readChanges(reader, null);
      expect(entries.size).toBe(701);
      expect(entries.get('cron-0003')).toMatchObject({ generation: 2, definition: OTHER });
      expect(entries.has('cron-9999')).toBe(true);
      expect(version).toBe(await versionOf(elsewhere));
    });

    it('may rely on what it read for as long as a change takes to be effective', async () => {
      const { catalog, elsewhere } = await declared();
      const { readAt } = await readChanges(elsewhere, null);
      const reply = await catalog.put(cron({ name: 'a', ...OTHER }), order(1));
      expect(reply).toMatchObject({ verdict: 'accepted' });
      expect('since' in reply ? reply.since : 0).toBeGreaterThanOrEqual(readAt + EFFECTIVE_AFTER_MS);
    });
  });
}
