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
  THIRD,
  type MakeCatalogHarness,
  order,
} from './stage.js';

/** Which of two builds of one program says what a cron is. */
export function buildsContract(makeHarness: MakeCatalogHarness): void {
  describe('a build', () => {
    it('that is higher redefines, in the next generation, which is effective two seconds later', async () => {
      const { catalog, now } = await makeHarness();
      await catalog.declare([cron()], build(7));
      const first = await entryOf(catalog);
      const between = await now();
      expect(await catalog.declare([cron(OTHER)], build(8))).toEqual({ ...NOTHING, changed: ['nightly-report'] });
      const entry = await entryOf(catalog);
      expect(entry).toMatchObject({ definition: OTHER, generation: 2, by: 'shop build 8', buildSeq: 8 });
      expect(entry.since).toBeGreaterThanOrEqual(between + 2_000);
      expect(entry.since).toBeLessThanOrEqual((await now()) + 2_000);
      const { past: _none, source: _shop, buildSeq: _seven, zoneData: _z, ...generation } = first;
      expect(entry.past).toStrictEqual([generation]);
    });

    it('adds the texts of a cron to what it declared without them, and takes them back no more', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron()], build(7));
      expect((await elsewhere.declare([cron({ owner: 'ada' })], build(7))).changed).toEqual(['nightly-report']);
      expect(await catalog.declare([cron()], build(7))).toEqual(NOTHING);
      expect(await entryOf(catalog)).toMatchObject({ generation: 2, definition: { owner: 'ada' } });
      await expect(catalog.declare([cron({ owner: 'ben' })], build(7))).rejects.toThrow(DefinitionConflictError);
      expect((await catalog.declare([cron()], build(8))).changed).toEqual(['nightly-report']);
    });

    it('changes nothing when it declares again what it declared', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare([cron()], build(7));
      const { entries, version } = await catalog.read();
      expect(await elsewhere.declare([cron()], build(7))).toEqual(NOTHING);
      expect(await catalog.read()).toMatchObject({ version, entries });
    });

    it('that is higher and declares the same begins no generation, and lower ones define nothing from then on', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], build(7));
      const before = await entryOf(catalog);
      expect(await catalog.declare([cron()], build(9))).toEqual(NOTHING);
      expect(await entryOf(catalog)).toEqual({ ...before, buildSeq: 9 });
      expect(await catalog.declare([cron(OTHER)], build(8))).toEqual({ ...NOTHING, older: ['nightly-report'] });
      expect(await entryOf(catalog)).toEqual({ ...before, buildSeq: 9 });
    });

    it('is not taken back by an old pod that restarts', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron(OTHER)], build(8));
      const { entries } = await catalog.read();
      expect(await catalog.declare([cron()], build(7))).toEqual({ ...NOTHING, older: ['nightly-report'] });
      expect(await catalog.declare([cron({}, true)], build(7))).toEqual({ ...NOTHING, older: ['nightly-report'] });
      expect((await catalog.read()).entries).toEqual(entries);
    });

    it('that is lower defines nothing, also what no newer one knows', async () => {
      const { catalog } = await makeHarness();
      await catalog.declare(named('a'), build(8));
      const reply = await catalog.declare([cron({ name: 'a', ...OTHER }), cron({ name: 'b' })], build(7));
      expect(reply).toEqual({ ...NOTHING, older: ['a', 'b'] });
      expect(await briefly(catalog)).toEqual({ a: 'active 1 0 3 * * *' });
    });

    it('of the same number may declare another half of the crons, and nothing is removed', async () => {
      const { catalog, elsewhere } = await makeHarness();
      await catalog.declare(named('a'), build(7));
      expect(await elsewhere.declare(named('b'), build(7))).toEqual({ ...NOTHING, changed: ['b'] });
      expect(await catalog.declare(named('a'), build(7))).toEqual(NOTHING);
      expect(await briefly(catalog)).toEqual({ a: 'active 1 0 3 * * *', b: 'active 1 0 3 * * *' });
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
    ])('refuses another %s from a build of the same number', async (_what, other) => {
      const { catalog } = await makeHarness();
      await catalog.declare([cron()], build(7));
      const told = { cron: 'nightly-report', buildSeq: 7, source: null, code: 'DEFINITION_CONFLICT' };
      await expect(catalog.declare([other], build(7))).rejects.toThrow(DefinitionConflictError);
      await expect(catalog.declare([other], build(7))).rejects.toThrow(expect.objectContaining(told));
    });

    it('keeps the last fifty generations before the newest', async () => {
      const { catalog } = await makeHarness();
      for (let seq = 1; seq <= 53; seq += 1) await catalog.declare([cron({ graceMs: seq })], build(seq));
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
      for (const [over, seq] of [
        [{}, 1],
        [{}, 1],
        [OTHER, 2],
        [{}, 1],
        [OTHER, 3],
        [THIRD, 4],
      ] as const) {
        await catalog.declare([cron(over)], build(seq));
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
      expect(await briefly(elsewhere)).toEqual({ 'nightly-report': 'active 8 0 3 * * *' });
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
  });
}
