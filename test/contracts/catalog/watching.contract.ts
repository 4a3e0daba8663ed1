import { describe, expect, it } from 'vitest';
import { briefly, build, cron, entryOf, named, order, OTHER, THIRD, type MakeCatalogHarness } from './stage.js';

/** How others hear of a change, and what a ledger tells of a catalog that was lost. */
export function watchingContract(makeHarness: MakeCatalogHarness): void {
  describe('whoever watches', () => {
    it('is given a hint at a change from any process, and at nothing else', async () => {
      const { catalog, elsewhere } = await makeHarness();
      let hints = 0;
      const stop = await catalog.watch(() => void (hints += 1));
      await elsewhere.declare([cron(), cron({ name: 'other' })], build(1));
      await expect.poll(() => hints).toBe(1);
      await elsewhere.declare([cron()], build(1));
      await elsewhere.declare([cron(OTHER)], build(0));
      await elsewhere.put(cron(OTHER), order(7));
      await elsewhere.declare(named('other'), build(2));
      await expect.poll(() => hints).toBe(2);
      await elsewhere.put(cron(THIRD), order(null));
      await elsewhere.remove('other', order(1));
      await expect.poll(() => hints).toBe(4);
      await stop();
    });

    it('is given none any more after the watching has ended', async () => {
      const { catalog, elsewhere } = await makeHarness();
      let [first, second] = [0, 0];
      const stopFirst = await catalog.watch(() => void (first += 1));
      const stopSecond = await catalog.watch(() => void (second += 1));
      await stopFirst();
      await elsewhere.declare([cron()], build(1));
      await expect.poll(() => second).toBe(1);
      expect(first).toBe(0);
      await stopSecond();
    });
  });

  describe('a catalog', () => {
    it('that was lost and counts anew begins a generation above the one a ledger has accepted, and announces it', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron()], build(1));
      const { version } = await catalog.read();
      let hints = 0;
      const stop = await elsewhere.watch(() => void (hints += 1));
      await catalog.outgrow('nightly-report', 7);
      await expect.poll(() => hints).toBe(1);
      await stop();
      expect(await briefly(elsewhere)).toEqual({ 'nightly-report': 'firing 8 0 3 * * *' });
      expect((await elsewhere.read()).version).toBeGreaterThan(version);
    });

    it('that was lost counts all of its generations on, so that no instant of an earlier one is refused for ever', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], build(1));
      await catalog.declare([cron(OTHER)], build(2));
      const before = await entryOf(catalog);
      await catalog.outgrow('nightly-report', 7);
      const renumberedAt: unknown = expect.any(Number);
      const past = before.past.map((one) => ({ ...one, generation: 8, renumberedAt }));
      expect(await entryOf(catalog)).toEqual({ ...before, generation: 9, past, renumberedAt });
      // What follows has never had another number.
      await catalog.declare([cron()], build(3));
      const after = await entryOf(catalog);
      expect(after).toMatchObject({ generation: 10, past: [{ generation: 8 }, { generation: 9, renumberedAt }] });
      expect(after).not.toHaveProperty('renumberedAt');
      await catalog.outgrow('nightly-report', 20);
      expect(await entryOf(catalog)).toMatchObject({ generation: 23, past: [{ generation: 21 }, { generation: 22 }] });
    });

    it('outgrows nothing when it is not below, and knows no cron that was not declared', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], build(1));
      for (const accepted of [7, 8, 3]) await catalog.outgrow('nightly-report', accepted);
      await catalog.outgrow('unknown', 5);
      expect(await briefly(catalog)).toEqual({ 'nightly-report': 'firing 8 0 3 * * *' });
    });
  });
}
