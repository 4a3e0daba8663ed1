import { describe, expect, it } from 'vitest';
import { build, cron, entryOf, named, order, OTHER, type CatalogHarness, type MakeCatalogHarness } from './stage.js';

/** From when on a catalog has been there: pods tell by it that one before was lost. */
export function birthContract(makeHarness: MakeCatalogHarness): void {
  async function born() {
    const harness = await makeHarness();
    const before = await harness.now();
    await harness.catalog.declare(named('a', 'b'), build(1));
    return { ...harness, before, bornAt: await bornAtOf(harness) };
  }

  const bornAtOf = async ({ elsewhere }: CatalogHarness) => (await elsewhere.read()).bornAt ?? -1;

  /** So that a birth noted later would be another one. */
  async function passAMoment({ age, now }: CatalogHarness): Promise<void> {
    const before = await now();
    await age(1);
    await expect.poll(now).toBeGreaterThan(before);
  }

  describe('the birth of a catalog', () => {
    it('is none before anything was accepted', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([], build(1));
      await catalog.remove('nightly-report', order(1));
      await catalog.outgrow('nightly-report', 7);
      expect((await catalog.read()).bornAt).toBeNull();
    });

    it('is when its first change was accepted, of a build or of a person', async () => {
      const { before, bornAt, now } = await born();
      expect(bornAt).toBeGreaterThanOrEqual(before);
      expect(bornAt).toBeLessThanOrEqual(await now());
      const harness = await makeHarness();
      await harness.catalog.put(cron(), order(null));
      expect(await bornAtOf(harness)).toBe((await entryOf(harness.catalog)).since);
    });

    it('stays what it is, whatever changes', async () => {
      const harness = await born();
      const { catalog, bornAt } = harness;
      await passAMoment(harness);
      await catalog.put(cron(OTHER), order(null));
      await catalog.declare(named('a'), build(2));
      await catalog.outgrow('a', 7);
      await catalog.remove('nightly-report', order(1));
      expect(await bornAtOf(harness)).toBe(bornAt);
    });

    it('is another one after all of it was lost', async () => {
      const harness = await born();
      const { catalog, bornAt, wipe, now } = harness;
      await passAMoment(harness);
      await wipe();
      expect(await catalog.read()).toMatchObject({ bornAt: null, entries: [] });
      const wiped = await now();
      await catalog.declare(named('a', 'b'), build(1));
      expect(wiped).toBeGreaterThan(bornAt);
      expect(await bornAtOf(harness)).toBeGreaterThanOrEqual(wiped);
    });
  });
}
