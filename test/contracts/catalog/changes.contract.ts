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
  order,
  OTHER,
  ZONE_DATA,
  type MakeCatalogHarness,
} from './stage.js';

const NAME = 'nightly-report';

/** Crons that people make, change and remove while everything runs. */
export function changesContract(makeHarness: MakeCatalogHarness): void {
  async function declared() {
    const harness = await makeHarness();
    await harness.catalog.declare([cron(), cron({ name: 'other' })], build(1));
    return harness;
  }

  describe('a cron made at run time', () => {
    it('begins at once, and belongs to no program', async () => {
      const { catalog, elsewhere, now } = await makeHarness();
      const before = await now();
      const reply = await catalog.put(cron({ handler: 'other', payload: [1] }, true), order(null));
      const entry = await entryOf(elsewhere);
      expect(reply).toEqual({ verdict: 'accepted', generation: 1, since: entry.since });
      expect(entry.since).toBeGreaterThanOrEqual(before);
      expect(entry.since).toBeLessThanOrEqual(await now());
      expect(entry).toStrictEqual({
        generation: 1,
        state: 'disabled',
        definition: cron({ handler: 'other', payload: [1] }).definition,
        since: entry.since,
        by: 'ana',
        reason: 'for the test',
        past: [],
        source: null,
        buildSeq: null,
        zoneData: ZONE_DATA,
      });
    });

    it('is adopted without a change by code that declares the same', async () => {
      const { catalog } = await makeHarness();
      await catalog.put(cron(), order(null));
      const { version } = await catalog.read();
      expect(await catalog.declare([cron()], build(1))).toEqual(NOTHING);
      expect(await catalog.read()).toMatchObject({
        version,
        entries: [{ generation: 1, source: 'shop', buildSeq: 1 }],
      });
      expect((await catalog.declare(named('other'), build(2))).removed).toEqual([NAME]);
    });

    it.each(['as it is', 'removed'])('is adopted %s by code that declares another content', async (how) => {
      const { catalog } = await makeHarness();
      await catalog.put(cron(), order(null));
      if (how === 'removed') await catalog.remove(NAME, order(1));
      expect(await catalog.declare([cron(OTHER)], build(1))).toEqual({ ...NOTHING, changed: [NAME] });
      expect(await entryOf(catalog)).toMatchObject({ source: 'shop', buildSeq: 1, state: 'active', definition: OTHER });
    });
  });

  describe('a change at run time', () => {
    it('begins the next generation two seconds later, and keeps whose the cron is', async () => {
      const { catalog, now } = await declared();
      const between = await now();
      const reply = await catalog.put(cron(OTHER), order(1));
      const entry = await entryOf(catalog);
      expect(reply).toEqual({ verdict: 'accepted', generation: 2, since: entry.since });
      expect(entry.since).toBeGreaterThanOrEqual(between + 2_000);
      expect(entry).toMatchObject({ by: 'ana', reason: 'for the test', source: 'shop', definition: OTHER });
      expect(entry.past).toMatchObject([{ generation: 1, by: 'shop build 1', definition: cron().definition }]);
    });

    it.each([
      ['a cron that is not there', { name: 'unknown', expected: 1, generation: null }],
      ['a generation that is not the newest', { name: NAME, expected: 2, generation: 1 }],
      ['no cron where one is', { name: NAME, expected: null, generation: 1 }],
    ])('is refused for %s', async (_what, { name, expected, generation }) => {
      const { catalog } = await declared();
      const before = await catalog.read();
      const moved = { verdict: 'moved', generation };
      expect(await catalog.put(cron({ name, ...OTHER }), order(expected))).toEqual(moved);
      expect(await catalog.remove(name, order(expected))).toEqual(moved);
      expect(await catalog.read()).toEqual({ ...before, readAt: expect.any(Number) as number });
    });

    it('is refused for the generation of a cron that was removed, which has to be made anew', async () => {
      const { catalog } = await declared();
      expect(await catalog.remove(NAME, order(1))).toMatchObject({ verdict: 'accepted', generation: 2 });
      expect(await catalog.put(cron(), order(2))).toEqual({ verdict: 'moved', generation: null });
      expect(await catalog.remove(NAME, order(2))).toEqual({ verdict: 'moved', generation: null });
      expect(await catalog.remove(NAME, order(null))).toEqual({ verdict: 'moved', generation: null });
      expect(await catalog.put(cron(), order(null))).toMatchObject({ verdict: 'accepted', generation: 3 });
    });

    it('is accepted from one of many who saw the same', async () => {
      const { catalog, elsewhere } = await declared();
      const people = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? catalog : elsewhere));
      const replies = await Promise.all(people.map((at, n) => at.put(cron({ graceMs: n }), order(1))));
      expect(replies.filter(({ verdict }) => verdict === 'accepted')).toHaveLength(1);
      expect(replies.filter(({ verdict }) => verdict === 'moved')).toHaveLength(19);
      expect(await entryOf(catalog)).toMatchObject({ generation: 2 });
    });

    it.each([
      ['the same build', 1],
      ['a later build', 2],
    ])('survives that %s declares what was declared before', async (_what, seq) => {
      const { catalog } = await declared();
      await catalog.put(cron(OTHER), order(1));
      await catalog.remove('other', order(1));
      expect(await catalog.declare([cron(), cron({ name: 'other' })], build(seq))).toEqual(NOTHING);
      expect(await briefly(catalog)).toEqual({ [NAME]: 'active 2 0 4 * * *', other: 'removed 2 0 3 * * *' });
    });

    it('that removes a cron keeps it removed for as long as code declares it', async () => {
      const { catalog, age } = await declared();
      await catalog.remove(NAME, order(1));
      await age(DAY_MS - HOUR_MS);
      await catalog.declare([cron(), cron({ name: 'other' })], build(1));
      await age(DAY_MS - HOUR_MS);
      await catalog.declare(named('other'), build(1));
      expect(await briefly(catalog)).toMatchObject({ [NAME]: 'removed 2 0 3 * * *' });
      await age(2 * DAY_MS);
      await catalog.declare(named('other'), build(1));
      expect(Object.keys(await briefly(catalog))).toEqual(['other']);
    });

    it('brings a cron back that was removed by hand, and code that declares it still has it again', async () => {
      const { catalog, age } = await declared();
      await catalog.remove(NAME, order(1));
      await catalog.put(cron(OTHER), order(null));
      await age(2 * DAY_MS);
      expect(await entryOf(catalog)).toMatchObject({ generation: 3, source: 'shop' });
      expect(await catalog.declare([cron(), cron({ name: 'other' })], build(1))).toEqual(NOTHING);
      expect((await catalog.declare(named('other'), build(2))).removed).toEqual([NAME]);
    });
  });
}

/** What two programs may declare beside each other. */
export function sourcesContract(makeHarness: MakeCatalogHarness): void {
  async function declared() {
    const harness = await makeHarness();
    await harness.catalog.declare(named('shared', 'own'), build(5, 'shop'));
    return harness;
  }

  describe('another program', () => {
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
      expect(await entryOf(catalog, 'shared')).toMatchObject({ source: 'billing', buildSeq: 1, state: 'active' });
      expect(await briefly(catalog)).toMatchObject({ shared: `active 3 ${expression}` });
      // It is none of the first owner's any more.
      expect(await catalog.declare(named('own'), build(7, 'shop'))).toEqual(NOTHING);
    });
  });
}
