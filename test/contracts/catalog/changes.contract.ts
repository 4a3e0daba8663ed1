import { describe, expect, it } from 'vitest';
import {
  briefly,
  by,
  cron,
  entryOf,
  gone,
  named,
  order,
  OTHER,
  told,
  ZONE_DATA,
  type MakeCatalogHarness,
} from './stage.js';

const NAME = 'nightly-report';

/** Crons that people make, change and remove while everything runs. */
export function changesContract(makeHarness: MakeCatalogHarness): void {
  async function declared() {
    const harness = await makeHarness();
    await harness.catalog.declare([cron(), cron({ name: 'other' })], by(1));
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
        app: null,
        revision: null,
        zoneData: ZONE_DATA,
      });
    });

    it('is adopted without a change by code that declares the same', async () => {
      const { catalog } = await makeHarness();
      await catalog.put(cron(), order(null));
      const { version } = await catalog.read();
      expect(told(await catalog.declare([cron()], by(1)))).toEqual({});
      expect(await catalog.read()).toMatchObject({ version, entries: [{ generation: 1, app: 'shop', revision: 1 }] });
    });

    it.each(['as it is', 'removed'])('is adopted %s by code that declares another content', async (how) => {
      const { catalog } = await makeHarness();
      await catalog.put(cron(), order(null));
      if (how === 'removed') await catalog.remove(NAME, order(1));
      expect(told(await catalog.declare([cron(OTHER)], by(1)))).toEqual({ [NAME]: 'changed' });
      expect(await entryOf(catalog)).toMatchObject({ app: 'shop', revision: 1, state: 'active', definition: OTHER });
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
      expect(entry).toMatchObject({ by: 'ana', reason: 'for the test', app: 'shop', definition: OTHER });
      expect(entry.past).toMatchObject([{ generation: 1, by: 'shop revision 1', definition: cron().definition }]);
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
      ['the same revision', 1],
      ['a later revision', 2],
    ])('survives that %s declares what was declared before', async (_what, revision) => {
      const { catalog } = await declared();
      await catalog.put(cron(OTHER), order(1));
      expect(told(await catalog.declare([cron(), cron({ name: 'other' })], by(revision)))).toEqual({});
      expect(await briefly(catalog)).toEqual({ [NAME]: 'active 2 0 4 * * *', other: 'active 1 0 3 * * *' });
    });

    it('ends when a revision declares something new', async () => {
      const { catalog } = await declared();
      await catalog.put(cron({ graceMs: 1 }), order(1));
      expect(told(await catalog.declare([cron(OTHER)], by(2)))).toEqual({ [NAME]: 'changed' });
      expect(await briefly(catalog)).toMatchObject({ [NAME]: 'active 3 0 4 * * *' });
    });

    it("makes a removed cron the operator's, until code declares it", async () => {
      const { catalog } = await declared();
      await catalog.remove(NAME, order(1));
      await catalog.put(cron(OTHER), order(null));
      expect(await entryOf(catalog)).toMatchObject({ generation: 3, app: null, revision: null });
      expect(told(await catalog.declare([cron()], by(1)))).toEqual({ [NAME]: 'changed' });
      expect(await entryOf(catalog)).toMatchObject({ generation: 4, app: 'shop', revision: 1 });
    });
  });
}

/** What two apps may declare beside each other. */
export function appsContract(makeHarness: MakeCatalogHarness): void {
  async function declared() {
    const harness = await makeHarness();
    await harness.catalog.declare(named('shared', 'own'), by(5, 'shop'));
    return harness;
  }

  describe('another app', () => {
    it.each([
      ['the same', {}],
      ['another', OTHER],
    ])(
      'declares a cron that is taken with %s content, is told whose it is, and keeps its others',
      async (_what, over) => {
        const { catalog } = await declared();
        const before = await entryOf(catalog, 'shared');
        const both = [cron({ name: 'shared', ...over }), cron({ name: 'bill' })];
        expect(told(await catalog.declare(both, by(9, 'billing')))).toEqual({
          shared: 'foreign shop',
          bill: 'created',
        });
        // That a revision of its own is gone, or an older one of the owner, proves nothing.
        const rest = { gone: [gone(5, 'billing'), gone(4)] };
        expect(told(await catalog.declare(both, by(9, 'billing', rest)))).toEqual({ shared: 'foreign shop' });
        expect(await entryOf(catalog, 'shared')).toEqual(before);
      },
    );

    it('takes over a cron whose owner declares it no more, as the next generation', async () => {
      const { catalog } = await declared();
      const abandoned = by(1, 'billing', { gone: [gone(5)] });
      const both = [cron({ name: 'shared', ...OTHER }), cron({ name: 'own' })];
      expect(told(await catalog.declare(both, abandoned))).toEqual({ shared: 'taken' });
      const reason = 'no live pod of the app it belonged to declares it any more';
      expect(await entryOf(catalog, 'shared')).toMatchObject({
        ...{ app: 'billing', revision: 1, generation: 2, by: 'billing revision 1', reason },
        past: [{ generation: 1, by: 'shop revision 5' }],
      });
      // One that it declares with the same content changes hands without a generation.
      expect(await entryOf(catalog, 'own')).toMatchObject({ app: 'billing', revision: 1, generation: 1 });
      expect(told(await catalog.declare(named('shared', 'own'), by(6, 'shop')))).toEqual({
        shared: 'foreign billing',
        own: 'foreign billing',
      });
    });

    it('brings back what was dropped, whoever owned it', async () => {
      const { catalog } = await declared();
      await catalog.drop(['shared'], by(6, 'shop', { gone: [gone(5)] }));
      expect(told(await catalog.declare(named('shared'), by(1, 'billing')))).toEqual({ shared: 'restored' });
      expect(await entryOf(catalog, 'shared')).toMatchObject({
        app: 'billing',
        revision: 1,
        state: 'active',
        generation: 3,
      });
    });
  });
}
