import { describe, expect, it } from 'vitest';
import {
  briefly,
  by,
  cron,
  entryOf,
  gone,
  named,
  OTHER,
  THIRD,
  told,
  type MakeCatalogHarness,
  order,
} from './stage.js';

const NAME = 'nightly-report';

/** Which of several revisions decides what a cron is. */
export function revisionsContract(makeHarness: MakeCatalogHarness): void {
  describe('a revision', () => {
    it('redefines what an older one declared, in the next generation, which is effective two seconds later', async () => {
      const { catalog, now } = await makeHarness();
      await catalog.declare([cron()], by(7));
      const first = await entryOf(catalog);
      const between = await now();
      expect(told(await catalog.declare([cron(OTHER)], by(8)))).toEqual({ [NAME]: 'changed' });
      const entry = await entryOf(catalog);
      expect(entry).toMatchObject({
        definition: OTHER,
        generation: 2,
        by: 'shop revision 8',
        app: 'shop',
        revision: 8,
      });
      expect(entry.since).toBeGreaterThanOrEqual(between + 2_000);
      expect(entry.since).toBeLessThanOrEqual((await now()) + 2_000);
      const { past: _none, app: _shop, revision: _seven, zoneData: _z, ...generation } = first;
      expect(entry.past).toStrictEqual([generation]);
    });

    it('changes nothing when it declares again what it declared', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron()], by(7));
      const { entries, version } = await catalog.read();
      expect(await elsewhere.declare([cron()], by(7))).toEqual([{ cron: NAME, word: 'same' }]);
      expect(await catalog.read()).toMatchObject({ version, entries });
    });

    it('is noted without a generation when it declares what the one in force declares', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], by(7));
      const before = await catalog.read();
      expect(await catalog.declare([cron()], by(9))).toEqual([{ cron: NAME, word: 'noted' }]);
      const { readAt: _now, ...after } = await catalog.read();
      expect(after).toMatchObject({ version: before.version, entries: [{ ...before.entries[0], revision: 9 }] });
      expect(await catalog.declare([cron()], by(8))).toEqual([{ cron: NAME, word: 'same' }]);
      expect(await entryOf(catalog)).toMatchObject({ generation: 1, revision: 9 });
    });

    it('is superseded by a newer one, and defines only the crons that no newer one has', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron({ name: 'a', ...OTHER })], by(8));
      const reply = await catalog.declare([cron({ name: 'a' }, true), cron({ name: 'b' })], by(7));
      expect(told(reply)).toEqual({ a: 'superseded 8', b: 'created' });
      expect(await briefly(catalog)).toEqual({ a: 'active 1 0 4 * * *', b: 'active 1 0 3 * * *' });
    });

    it('takes over from a newer one that is gone, and says so with the generation', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron(OTHER), cron({ name: 'same' })], by(8));
      const both = [cron(), cron({ name: 'same' })];
      // Of another revision, and of another app: neither is the one in force.
      const others = { gone: [gone(9), gone(8, 'mail'), gone(7)] };
      expect(told(await elsewhere.declare(both, by(7, 'shop', others)))).toEqual({ [NAME]: 'superseded 8' });
      const reply = await elsewhere.declare(both, by(7, 'shop', { gone: [gone(8)] }));
      expect(reply).toEqual([
        { cron: NAME, word: 'reverted' },
        { cron: 'same', word: 'noted' },
      ]);
      const reason = 'the newer revision has no live pod any more';
      expect(await entryOf(catalog)).toMatchObject({ generation: 2, by: 'shop revision 7', reason, revision: 7 });
      expect(await entryOf(catalog, 'same')).toMatchObject({ generation: 1, revision: 7 });
      expect(told(await catalog.declare([cron(OTHER)], by(8)))).toEqual({ [NAME]: 'changed' });
    });

    it('answers a call that is repeated with its nonce as it did before, and begins nothing twice', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron(), cron({ name: 'same' })], by(1));
      const call = { nonce: 'nonce-01' };
      const crons = [cron(OTHER), cron({ name: 'fresh' }), cron({ name: 'same' })];
      const first = await catalog.declare(crons, by(2, 'shop', call));
      expect(told(first)).toEqual({ [NAME]: 'changed', fresh: 'created' });
      const { version } = await catalog.read();
      expect(told(await elsewhere.declare(crons, by(2, 'shop', { ...call, repeated: true })))).toEqual(told(first));
      expect(told(await elsewhere.declare(crons, by(2, 'shop', { nonce: 'nonce-02', repeated: true })))).toEqual({});
      expect((await catalog.read()).version).toBe(version);
      // Also when another revision has changed it since.
      await catalog.declare([cron(THIRD)], by(3));
      expect(told(await elsewhere.declare(crons, by(2, 'shop', { ...call, repeated: true })))).toEqual(told(first));

      const drop = by(3, 'shop', { gone: [gone(2)], nonce: 'nonce-03' });
      expect(await catalog.drop(['fresh', 'same'], drop)).toEqual(['fresh', 'same']);
      expect((await elsewhere.drop(['fresh', 'same'], drop)).toSorted()).toEqual(['fresh', 'same']);
      expect(await elsewhere.drop(['fresh'], { ...drop, nonce: 'nonce-04' })).toEqual([]);
      expect(await entryOf(catalog, 'fresh')).toMatchObject({ generation: 2, state: 'removed' });
    });

    it('keeps its place between whole numbers', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], by(42.01));
      expect(told(await catalog.declare([cron(OTHER)], by(42)))).toEqual({ [NAME]: 'superseded 42.01' });
      expect(told(await catalog.declare([cron(OTHER)], by(42.02)))).toEqual({ [NAME]: 'changed' });
      expect(await entryOf(catalog)).toMatchObject({ revision: 42.02, by: 'shop revision 42.02' });
    });

    it('adds the texts of a cron to what it declared without them, and takes them back no more', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron()], by(7));
      expect(told(await elsewhere.declare([cron({ owner: 'ada' })], by(7)))).toEqual({ [NAME]: 'changed' });
      expect(told(await catalog.declare([cron()], by(7)))).toEqual({});
      expect(await entryOf(catalog)).toMatchObject({ generation: 2, definition: { owner: 'ada' } });
      expect(told(await catalog.declare([cron()], by(8)))).toEqual({ [NAME]: 'changed' });
    });

    it.each([
      ['expression', cron(OTHER)],
      ['time zone', cron({ timeZone: 'UTC' })],
      ['misfire', cron({ misfire: 'skip' })],
      ['overlap', cron({ overlap: 'allow' })],
      ['grace', cron({ graceMs: 1 })],
      ['catch-up window', cron({ catchUpWindowMs: 1 })],
      ['gap rule', cron({ dst: { gap: 'skip', repeat: 'first' } })],
      ['repeat rule', cron({ dst: { gap: 'next-valid', repeat: 'both' } })],
      ['spread', cron({ spreadMs: 60_000 })],
      ['least interval', cron({ minIntervalMs: 60_000 })],
      ['most to catch up', cron({ maxCatchUp: 5 })],
      ['handler', cron({ handler: 'other' })],
      ['payload', cron({ payload: { a: 1 } })],
      ['tag', cron({ tags: ['billing'] })],
      ['disabled', cron({}, true)],
    ])('begins a generation for another %s', async (_what, other) => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], by(7));
      expect(told(await catalog.declare([other], by(8)))).toEqual({ [NAME]: 'changed' });
      expect((await entryOf(catalog)).generation).toBe(2);
    });

    it('is one of many whose last fifty generations before the newest are kept', async () => {
      const { catalog } = await makeHarness();
      for (let n = 1; n <= 53; n += 1) await catalog.declare([cron({ graceMs: n })], by(n));
      const { generation, past } = await entryOf(catalog);
      expect(generation).toBe(53);
      expect(past.map((one) => one.generation)).toEqual(Array.from({ length: 50 }, (_, n) => n + 3));
      expect(past.map(({ definition }) => definition.graceMs)).toEqual(Array.from({ length: 50 }, (_, n) => n + 3));
      const sinces = past.map(({ since }) => since);
      expect(sinces).toEqual(sinces.toSorted((a, b) => a - b));
    });

    it('raises the version with each accepted change, and with nothing else', async () => {
      const { catalog } = await makeHarness();
      const versions = [(await catalog.read()).version];
      for (const [over, revision] of [
        [{}, 1],
        [{}, 1],
        [OTHER, 2],
        [{}, 1],
        [OTHER, 3],
        [THIRD, 4],
      ] as const) {
        await catalog.declare([cron(over)], by(revision));
        versions.push((await catalog.read()).version);
      }
      const rises = versions.slice(1).map((version, n) => version > versions[n]!);
      expect(rises).toEqual([true, false, true, false, false, true]);
    });
  });
}

/** How others hear of a change, and what a ledger tells of a catalog that was lost. */
export function watchingContract(makeHarness: MakeCatalogHarness): void {
  describe('whoever watches', () => {
    it('is given a hint at a change from any process, and at nothing else', async () => {
      const { catalog, elsewhere } = await makeHarness();
      let hints = 0;
      const stop = await catalog.watch(() => void (hints += 1));
      await elsewhere.declare([cron(), cron({ name: 'other' })], by(1));
      await expect.poll(() => hints).toBe(1);
      await elsewhere.declare([cron()], by(1));
      await elsewhere.declare([cron(OTHER)], by(0.5));
      await elsewhere.put(cron(OTHER), order(7));
      await elsewhere.declare(named('other'), by(2));
      await elsewhere.drop([NAME, 'other'], by(2, 'shop', { gone: [gone(1)] }));
      await expect.poll(() => hints).toBe(2);
      await elsewhere.put(cron(THIRD), order(null));
      await elsewhere.remove('other', order(1));
      await expect.poll(() => hints).toBe(4);
      await stop();
    });
  });

  describe('a catalog', () => {
    it('that was lost and counts anew begins a generation above the one a ledger has accepted, and announces it', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron()], by(1));
      const { version } = await catalog.read();
      let hints = 0;
      const stop = await elsewhere.watch(() => void (hints += 1));
      await catalog.outgrow('nightly-report', 7);
      await expect.poll(() => hints).toBe(1);
      await stop();
      expect(await briefly(elsewhere)).toEqual({ 'nightly-report': 'active 8 0 3 * * *' });
      expect((await elsewhere.read()).version).toBeGreaterThan(version);
    });

    it('that was lost counts all of its generations on, so that no instant of an earlier one is refused for ever', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], by(1));
      await catalog.declare([cron(OTHER)], by(2));
      const before = await entryOf(catalog);
      await catalog.outgrow('nightly-report', 7);
      const renumberedAt: unknown = expect.any(Number);
      const past = before.past.map((one) => ({ ...one, generation: 8, renumberedAt }));
      expect(await entryOf(catalog)).toEqual({ ...before, generation: 9, past, renumberedAt });
      // What follows has never had another number.
      await catalog.declare([cron()], by(3));
      const after = await entryOf(catalog);
      expect(after).toMatchObject({ generation: 10, past: [{ generation: 8 }, { generation: 9, renumberedAt }] });
      expect(after).not.toHaveProperty('renumberedAt');
      await catalog.outgrow('nightly-report', 20);
      expect(await entryOf(catalog)).toMatchObject({ generation: 23, past: [{ generation: 21 }, { generation: 22 }] });
    });
  });
}
