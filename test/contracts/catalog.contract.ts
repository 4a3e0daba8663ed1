import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../libs/jobs/src/catalog/catalog.js';
import { DefinitionConflictError } from '../../libs/jobs/src/catalog/definition-conflict-error.js';
import type { CronDefinition, Declaration } from '../../libs/jobs/src/catalog/definition.js';

/** What a catalog's spec has to offer, so that the contract can drive it. */
export interface CatalogHarness {
  /** Empty, and nobody else's. */
  readonly catalog: Catalog;
  /** The same store, as another process sees it. */
  readonly elsewhere: Catalog;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
}

function cron(over: Partial<CronDefinition> = {}, disabled = false): Declaration {
  const definition: CronDefinition = {
    name: 'nightly-report',
    expression: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    misfire: 'fire-once',
    overlap: 'skip',
    graceMs: 60_000,
    catchUpWindowMs: null,
    ...over,
  };
  return { definition, disabled };
}

const OTHER = { expression: '0 4 * * *' };

/** The one suite that every catalog passes. */
export function catalogContract(name: string, makeHarness: () => Promise<CatalogHarness>): void {
  describe(`${name} keeps the catalog contract`, () => {
    declaring(makeHarness);
    builds(makeHarness);
    watching(makeHarness);
    losing(makeHarness);
  });
}

function declaring(makeHarness: () => Promise<CatalogHarness>): void {
  it('is empty before the first declaration', async () => {
    const { catalog } = await makeHarness();
    expect(await catalog.read()).toEqual([]);
    expect(await catalog.declare([], 1)).toEqual({ changed: [], older: [] });
  });

  it('gives every process what was declared, in the order of the names, in its first generation', async () => {
    const { catalog, elsewhere, now } = await makeHarness();
    const before = await now();
    const [b, a] = [cron({ name: 'b' }), cron({ name: 'a', catchUpWindowMs: 5_000 })];
    expect(await catalog.declare([b, a], 7)).toEqual({ changed: ['b', 'a'], older: [] });
    const entries = await elsewhere.read();
    expect(entries.map(({ definition }) => definition)).toEqual([a.definition, b.definition]);
    for (const { generation, since } of entries) {
      expect(generation).toBe(1);
      expect(since).toBeGreaterThanOrEqual(before);
      expect(since).toBeLessThanOrEqual(await now());
    }
  });

  it('gives back the rule for changes of the clocks, the spread and the least interval, and nothing where there is none', async () => {
    const { catalog, elsewhere } = await makeHarness();
    const refined = cron({
      name: 'a',
      dst: { gap: 'shift', repeat: 'both' },
      spreadMs: 600_000,
      minIntervalMs: 60_000,
    });
    const plain = cron({ name: 'b' });
    await catalog.declare([refined, plain], 1);
    const definitions = (await elsewhere.read()).map(({ definition }) => definition);
    expect(definitions).toStrictEqual([refined.definition, plain.definition]);
  });

  it('takes a thousand crons in one step', async () => {
    const { catalog } = await makeHarness();
    const many = Array.from({ length: 1_000 }, (_, n) => cron({ name: `cron-${String(n).padStart(4, '0')}` }));
    expect((await catalog.declare(many, 1)).changed).toHaveLength(1_000);
    const entries = await catalog.read();
    expect(entries.map(({ definition }) => definition)).toEqual(many.map(({ definition }) => definition));
    expect(await catalog.declare(many, 1)).toEqual({ changed: [], older: [] });
  });

  it('does not list a cron that is declared as disabled, until it is enabled again', async () => {
    const { catalog } = await makeHarness();
    expect(await catalog.declare([cron({}, true)], 1)).toEqual({ changed: ['nightly-report'], older: [] });
    expect(await catalog.read()).toEqual([]);
    await catalog.declare([cron()], 2);
    expect(await catalog.read()).toMatchObject([{ generation: 2 }]);
    await catalog.declare([cron({}, true)], 3);
    expect(await catalog.read()).toEqual([]);
  });
}

function builds(makeHarness: () => Promise<CatalogHarness>): void {
  it('is redefined by a higher build, which begins the next generation', async () => {
    const { catalog, now } = await makeHarness();
    await catalog.declare([cron()], 7);
    const between = await now();
    expect(await catalog.declare([cron(OTHER)], 8)).toEqual({ changed: ['nightly-report'], older: [] });
    const [entry] = await catalog.read();
    expect(entry).toMatchObject({ definition: OTHER, generation: 2 });
    expect(entry?.since).toBeGreaterThanOrEqual(between);
  });

  it('changes nothing when a build declares again what it declared', async () => {
    const { catalog, elsewhere } = await makeHarness();
    await catalog.declare([cron()], 7);
    const before = await catalog.read();
    expect(await elsewhere.declare([cron()], 7)).toEqual({ changed: [], older: [] });
    expect(await catalog.read()).toEqual(before);
  });

  it('begins no generation when a higher build declares the same, and lower ones define nothing from then on', async () => {
    const { catalog } = await makeHarness();
    await catalog.declare([cron()], 7);
    const before = await catalog.read();
    expect(await catalog.declare([cron()], 9)).toEqual({ changed: [], older: [] });
    expect(await catalog.read()).toEqual(before);
    expect(await catalog.declare([cron(OTHER)], 8)).toEqual({ changed: [], older: ['nightly-report'] });
    expect(await catalog.read()).toEqual(before);
  });

  it('is not taken back by an old pod that restarts', async () => {
    const { catalog } = await makeHarness();
    await catalog.declare([cron(OTHER)], 8);
    const before = await catalog.read();
    expect(await catalog.declare([cron()], 7)).toEqual({ changed: [], older: ['nightly-report'] });
    expect(await catalog.declare([cron({}, true)], 7)).toEqual({ changed: [], older: ['nightly-report'] });
    expect(await catalog.read()).toEqual(before);
  });

  it('lets an old build define what no newer one knows', async () => {
    const { catalog } = await makeHarness();
    await catalog.declare([cron({ name: 'a' })], 8);
    const reply = await catalog.declare([cron({ name: 'a', ...OTHER }), cron({ name: 'b' })], 7);
    expect(reply).toEqual({ changed: ['b'], older: ['a'] });
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
    ['disabled', cron({}, true)],
  ])('refuses another %s from a build of the same number', async (_what, other) => {
    const { catalog } = await makeHarness();
    await catalog.declare([cron()], 7);
    const conflict = expect.objectContaining({ cron: 'nightly-report', buildSeq: 7, code: 'DEFINITION_CONFLICT' });
    await expect(catalog.declare([other], 7)).rejects.toThrow(DefinitionConflictError);
    await expect(catalog.declare([other], 7)).rejects.toThrow(conflict);
  });

  it('tells a spread from a least interval of the same length', async () => {
    const { catalog } = await makeHarness();
    await catalog.declare([cron({ spreadMs: 60_000 })], 7);
    await expect(catalog.declare([cron({ minIntervalMs: 60_000 })], 7)).rejects.toThrow(DefinitionConflictError);
  });

  it('changes nothing at all when one of many crons is in conflict', async () => {
    const { catalog } = await makeHarness();
    await catalog.declare([cron({ name: 'b' })], 7);
    await catalog.declare([cron({ name: 'a' })], 6);
    const before = await catalog.read();
    const build = [cron({ name: 'a', ...OTHER }), cron({ name: 'b', ...OTHER }), cron({ name: 'c' })];
    await expect(catalog.declare(build, 7)).rejects.toThrow('The cron "b" is already declared');
    expect(await catalog.read()).toEqual(before);
    // Nor has it raised the build of what it would have changed.
    expect(await catalog.declare([cron({ name: 'a' })], 6)).toEqual({ changed: [], older: [] });
  });
}

function watching(makeHarness: () => Promise<CatalogHarness>): void {
  it('hints at a change from any process, and at nothing else', async () => {
    const { catalog, elsewhere } = await makeHarness();
    let hints = 0;
    const stop = await catalog.watch(() => void (hints += 1));
    await elsewhere.declare([cron()], 1);
    await expect.poll(() => hints).toBe(1);
    await elsewhere.declare([cron()], 1);
    await elsewhere.declare([cron(OTHER)], 0);
    await elsewhere.declare([cron(OTHER)], 2);
    await expect.poll(() => hints).toBe(2);
    await stop();
  });

  it('hints at nothing any more after the watching has ended', async () => {
    const { catalog, elsewhere } = await makeHarness();
    let [first, second] = [0, 0];
    const stopFirst = await catalog.watch(() => void (first += 1));
    const stopSecond = await catalog.watch(() => void (second += 1));
    await stopFirst();
    await elsewhere.declare([cron()], 1);
    await expect.poll(() => second).toBe(1);
    expect(first).toBe(0);
    await stopSecond();
  });
}

function losing(makeHarness: () => Promise<CatalogHarness>): void {
  it('that was lost and counts anew begins a generation above the one a ledger has accepted, and announces it', async () => {
    const { catalog, elsewhere } = await makeHarness();
    await catalog.declare([cron()], 1);
    const announced = new Promise<void>((resolve) => {
      void elsewhere.watch(resolve).then(async (stop) => {
        await catalog.outgrow('nightly-report', 7);
        await announced;
        await stop();
      });
    });
    await announced;
    expect(await elsewhere.read()).toMatchObject([{ generation: 8, definition: { expression: '0 3 * * *' } }]);
  });

  it('outgrows nothing when it is not below, and knows no cron that was not declared', async () => {
    const { catalog } = await makeHarness();
    await catalog.declare([cron()], 1);
    await catalog.outgrow('nightly-report', 7);
    await catalog.outgrow('nightly-report', 8);
    await catalog.outgrow('nightly-report', 3);
    await catalog.outgrow('unknown', 5);
    expect((await catalog.read()).map(({ generation }) => generation)).toEqual([8]);
  });
}
