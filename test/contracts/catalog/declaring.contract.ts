import { describe, expect, it } from 'vitest';
import {
  briefly,
  by,
  cron,
  entryOf,
  named,
  OTHER,
  told,
  ZONE_DATA,
  type MakeCatalogHarness,
  order,
  type CatalogHarness,
} from './stage.js';

/** What a declaration leaves, and that of a large one all or nothing is left. */
export function declaringContract(makeHarness: MakeCatalogHarness): void {
  describe('declaring', () => {
    it('finds an empty catalog, and leaves it so when nothing is declared', async () => {
      const { catalog, now } = await makeHarness();
      const before = await now();
      expect(await catalog.declare([], by(1))).toEqual([]);
      const reading = await catalog.read();
      expect(reading).toMatchObject({ version: 0, entries: [] });
      expect(reading.readAt).toBeGreaterThanOrEqual(before);
      expect(reading.readAt).toBeLessThanOrEqual(await now());
    });

    it('gives every process what was declared, in the order of the names, in its first generation, at once', async () => {
      const { catalog, elsewhere, now } = await makeHarness();
      const before = await now();
      const [b, a] = [cron({ name: 'b' }), cron({ name: 'a', catchUpWindowMs: 5_000 }, true)];
      expect(await catalog.declare([b, a], by(7))).toEqual([
        { cron: 'b', word: 'created' },
        { cron: 'a', word: 'created' },
      ]);
      const { entries } = await elsewhere.read();
      const since = expect.toSatisfy((ms: number) => ms >= before) as number;
      const first = { generation: 1, since, by: 'shop revision 7', reason: null, past: [] };
      const origin = { app: 'shop', revision: 7, zoneData: ZONE_DATA };
      expect(entries).toStrictEqual([
        { ...first, ...origin, definition: a.definition, state: 'disabled' },
        { ...first, ...origin, definition: b.definition, state: 'active' },
      ]);
      for (const entry of entries) expect(entry.since).toBeLessThanOrEqual(await now());
    });

    it('is read of some crons alone, as they are among all of them; those that are not there are left out', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([...named('a', 'b', 'c')], by(7));
      await catalog.put(cron({ name: 'b', ...OTHER }), order(1));
      const all = await elsewhere.read();
      const some = await elsewhere.read(['c', 'nobody', 'b']);
      expect(some.entries).toStrictEqual(all.entries.filter(({ definition }) => definition.name !== 'a'));
      expect(some).toMatchObject({ version: all.version, bornAt: all.bornAt });
      expect((await elsewhere.read([])).entries).toEqual([]);
      expect((await elsewhere.read(['nobody'])).entries).toEqual([]);
    });

    it('gives back every option as it was declared, and none where there was none', async () => {
      const { catalog, elsewhere } = await makeHarness();
      const refined = cron({
        name: 'a',
        dst: { gap: 'shift', repeat: 'both' },
        spreadMs: 600_000,
        minIntervalMs: 60_000,
        maxCatchUp: 5,
        maxConcurrency: 2,
        startDeadlineMs: 1_000,
        cancelGraceMs: 2_000,
        handler: 'b',
        payload: { text: 'tab\t, line\n, "quote", é', large: 1_787_654_321_123_456, list: [1.5, null, {}] },
        tags: ['billing', 'eu'],
      });
      const plain = cron({ name: 'b' });
      await catalog.declare([refined, plain], by(1, 'a program with spaces'));
      const { entries } = await elsewhere.read();
      expect(entries.map(({ definition }) => definition)).toStrictEqual([refined.definition, plain.definition]);
      expect(entries[0]?.app).toBe('a program with spaces');
    });

    it('takes 1,201 crons, and the next revision of them', async () => {
      const { catalog } = await makeHarness();
      const many = Array.from({ length: 1_201 }, (_, n) => cron({ name: `cron-${String(n).padStart(4, '0')}` }));
      expect(Object.keys(told(await catalog.declare(many, by(1))))).toHaveLength(1_201);
      const { entries, version } = await catalog.read();
      expect(entries.map(({ definition }) => definition)).toEqual(many.map(({ definition }) => definition));
      expect(told(await catalog.declare(many, by(1)))).toEqual({});
      expect((await catalog.read()).version).toBe(version);

      const next = [cron({ name: 'cron-0000', ...OTHER }), ...many.slice(1, 1_200)];
      expect(told(await catalog.declare(next, by(2)))).toEqual({ 'cron-0000': 'changed' });
      expect(told(await catalog.declare(many, by(1)))).toEqual({ 'cron-0000': 'superseded 2' });
    });

    it('takes a name that is declared twice with the same content once, and with another not at all', async () => {
      const { catalog } = await makeHarness();
      expect(told(await catalog.declare([cron(), cron()], by(1)))).toEqual({ 'nightly-report': 'created' });
      expect(await briefly(catalog)).toEqual({ 'nightly-report': 'active 1 0 3 * * *' });
      const twice = [cron({ name: 'other' }), cron(), cron(OTHER)];
      await expect(catalog.declare(twice, by(2))).rejects.toThrow('"nightly-report" is declared twice in one process');
      expect(Object.keys(await briefly(catalog))).toEqual(['nightly-report']);
    });

    it('refuses a declaration of no app', async () => {
      const { catalog } = await makeHarness();
      await expect(catalog.declare([cron()], by(1, ''))).rejects.toThrow('The name of the declaring app is empty');
      expect(await briefly(catalog)).toEqual({});
    });

    it('leaves the newer of two revisions that declare at the same moment in force', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await Promise.all([elsewhere.declare([cron(OTHER)], by(2)), catalog.declare([cron()], by(1))]);
      expect(await entryOf(catalog)).toMatchObject({ definition: OTHER, revision: 2 });
    });
  });
}

/** From when on a catalog has been there: pods tell by it that one before was lost. */
export function birthContract(makeHarness: MakeCatalogHarness): void {
  async function born() {
    const harness = await makeHarness();
    const before = await harness.now();
    await harness.catalog.declare(named('a', 'b'), by(1));
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
      await catalog.declare([], by(1));
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
      await catalog.declare(named('a'), by(2));
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
      await catalog.declare(named('a', 'b'), by(1));
      expect(wiped).toBeGreaterThan(bornAt);
      expect(await bornAtOf(harness)).toBeGreaterThanOrEqual(wiped);
    });
  });
}
