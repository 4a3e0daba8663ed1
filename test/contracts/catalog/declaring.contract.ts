import { describe, expect, it } from 'vitest';
import { DefinitionConflictError } from '@fencepost/ledger/catalog';
import {
  briefly,
  build,
  cron,
  entryOf,
  named,
  NOTHING,
  OTHER,
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
      expect(await catalog.declare([], build(1))).toEqual(NOTHING);
      const reading = await catalog.read();
      expect(reading).toMatchObject({ version: 0, entries: [] });
      expect(reading.readAt).toBeGreaterThanOrEqual(before);
      expect(reading.readAt).toBeLessThanOrEqual(await now());
    });

    it('gives every process what was declared, in the order of the names, in its first generation, at once', async () => {
      const { catalog, elsewhere, now } = await makeHarness();
      const before = await now();
      const [b, a] = [cron({ name: 'b' }), cron({ name: 'a', catchUpWindowMs: 5_000 }, true)];
      expect(await catalog.declare([b, a], build(7))).toEqual({ ...NOTHING, changed: ['b', 'a'] });
      const { entries } = await elsewhere.read();
      const since = expect.toSatisfy((ms: number) => ms >= before) as number;
      const first = { generation: 1, since, by: 'shop build 7', reason: null, past: [] };
      const origin = { source: 'shop', buildSeq: 7, zoneData: ZONE_DATA };
      expect(entries).toStrictEqual([
        { ...first, ...origin, definition: a.definition, state: 'disabled' },
        { ...first, ...origin, definition: b.definition, state: 'active' },
      ]);
      for (const entry of entries) expect(entry.since).toBeLessThanOrEqual(await now());
    });

    it('is read of some crons alone, as they are among all of them; those that are not there are left out', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([...named('a', 'b', 'c')], build(7));
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
      await catalog.declare([refined, plain], build(1, 'a program with spaces'));
      const { entries } = await elsewhere.read();
      expect(entries.map(({ definition }) => definition)).toStrictEqual([refined.definition, plain.definition]);
      expect(entries[0]?.source).toBe('a program with spaces');
    });

    it('takes 1,201 crons, and the next build of them', async () => {
      const { catalog } = await makeHarness();
      const many = Array.from({ length: 1_201 }, (_, n) => cron({ name: `cron-${String(n).padStart(4, '0')}` }));
      expect((await catalog.declare(many, build(1))).changed).toHaveLength(1_201);
      const { entries, version } = await catalog.read();
      expect(entries.map(({ definition }) => definition)).toEqual(many.map(({ definition }) => definition));
      expect(await catalog.declare(many, build(1))).toEqual(NOTHING);
      expect((await catalog.read()).version).toBe(version);

      const next = [cron({ name: 'cron-0000', ...OTHER }), ...many.slice(1, 1_200)];
      expect(await catalog.declare(next, build(2))).toEqual({
        changed: ['cron-0000'],
        older: [],
        removed: ['cron-1200'],
      });
      expect((await catalog.declare(many, build(1))).older).toHaveLength(1_201);
    });

    it.each([
      ['two', 2],
      ['1,201', 1_201],
    ])('changes nothing at all when the last of %s crons is in conflict', async (_what, count) => {
      const { catalog } = await makeHarness();
      const names = Array.from({ length: count }, (_, n) => `cron-${String(n).padStart(4, '0')}`);
      await catalog.declare([cron({ name: names.at(-1)! })], build(7));
      await catalog.declare(named('of-before'), build(3, 'other'));
      const before = await catalog.read();
      const declared = names.map((name) => cron({ name, ...OTHER }));
      await expect(catalog.declare(declared, build(7))).rejects.toThrow(
        `The cron "${names.at(-1)}" is already declared`,
      );
      const foreign = [...named('of-other'), ...declared];
      await expect(catalog.declare(foreign, build(9, 'other'))).rejects.toThrow('by the program "shop"');
      expect(await catalog.read()).toEqual({ ...before, readAt: expect.any(Number) as number });
      // Nor has it raised the build: what it would have removed is declared still.
      expect(await catalog.declare(named('of-before'), build(3, 'other'))).toEqual(NOTHING);
    });

    it('takes a name that is declared twice with the same content once, and with another not at all', async () => {
      const { catalog } = await makeHarness();
      expect(await catalog.declare([cron(), cron()], build(1))).toEqual({ ...NOTHING, changed: ['nightly-report'] });
      expect(await briefly(catalog)).toEqual({ 'nightly-report': 'active 1 0 3 * * *' });
      await expect(catalog.declare([cron(), cron(OTHER)], build(2))).rejects.toThrow(DefinitionConflictError);
    });

    it.each([-1, 1.5, Number.NaN, 2 ** 53])(
      'refuses %d as the number of a build, and a build of no program',
      async (seq) => {
        const { catalog } = await makeHarness();
        await expect(catalog.declare([cron()], build(seq))).rejects.toThrow(
          'Expected a buildSeq that is a whole number',
        );
        await expect(catalog.declare([cron()], build(1, ''))).rejects.toThrow(
          'The name of the declaring program is empty',
        );
        expect(await briefly(catalog)).toEqual({});
        await catalog.declare([cron()], build(Number.MAX_SAFE_INTEGER));
        expect(await entryOf(catalog)).toMatchObject({ buildSeq: Number.MAX_SAFE_INTEGER });
      },
    );

    it('is refused to one of two that declare different content with one build number at the same moment', async () => {
      const { catalog, elsewhere } = await makeHarness();
      const halves = [catalog.declare([cron()], build(1)), elsewhere.declare([cron(OTHER)], build(1))];
      const [first, second] = await Promise.allSettled(halves);
      expect(first).toMatchObject({ status: 'fulfilled', value: { changed: ['nightly-report'] } });
      expect(second).toMatchObject({ status: 'rejected', reason: { code: 'DEFINITION_CONFLICT' } });
      expect(await briefly(catalog)).toEqual({ 'nightly-report': 'active 1 0 3 * * *' });
    });
  });
}

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
