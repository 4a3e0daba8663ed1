import { beforeEach, describe, expect, it } from 'vitest';
import { CatalogMovedError } from '@fencepost/jobs/internal';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { CronCatalog } from './cron-catalog.js';
import type { CronChanges } from './cron-changes.js';

const ORDER = { by: 'ada', reason: 'a test' };
const NAME = 'reports';
const FULL: CronChanges = {
  ...{ expression: '30 2 * * *', timeZone: 'Europe/Berlin', dst: { gap: 'skip', repeat: 'last' } },
  ...{ misfire: 'fire-all', maxCatchUp: 7, overlap: 'replace', cancelGrace: '45s', grace: '5m' },
  ...{ payload: { month: 3, year: 2026 }, tags: ['billing', 'eu'], handler: 'mail', expectEvery: '25h' },
  ping: { success: 'https://hc.example/a', failure: 'https://hc.example/b' },
};

let stage: OperatingStage;
let crons: CronCatalog;

beforeEach(async () => {
  stage = new OperatingStage();
  ({ crons } = stage);
  await crons.set(NAME, FULL, ORDER);
});

async function definitionAfter(changes: CronChanges) {
  return (await crons.set(NAME, changes, ORDER)).definition;
}

async function definition() {
  return (await crons.get(NAME))?.definition;
}

describe('CronCatalog.set', () => {
  it('keeps every option that is not named', async () => {
    const before = await definition();
    expect(await definitionAfter({ expression: '30 4 * * *', owner: undefined as never })).toEqual({
      ...before,
      expression: '30 4 * * *',
    });
  });

  it('keeps a cron disabled until that is reset', async () => {
    await crons.set(NAME, { disabled: true }, ORDER);
    expect(await crons.set(NAME, { grace: '1m' }, ORDER)).toMatchObject({ state: 'disabled' });
    expect(await crons.set(NAME, { disabled: null }, ORDER)).toMatchObject({ state: 'active' });
  });

  it('resets an option that is null to its default', async () => {
    const defaults = { expression: '30 2 * * *', payload: null, tags: null, handler: null, grace: null } as const;
    const changed = await definitionAfter({ ...defaults, timeZone: null, expectEvery: null, dst: null, ping: null });
    expect(changed).toEqual({
      ...{ name: NAME, expression: '30 2 * * *', timeZone: 'UTC', misfire: 'fire-all', maxCatchUp: 7 },
      ...{ overlap: 'replace', cancelGraceMs: 45_000, graceMs: 60_000, catchUpWindowMs: null },
    });
  });

  it('changes the parts of dst and ping one by one', async () => {
    const ping = { failure: null, uncertain: 'https://hc.example/c' };
    expect(await definitionAfter({ dst: { gap: 'shift' }, ping })).toMatchObject({
      dst: { gap: 'shift', repeat: 'last' },
      ping: { success: 'https://hc.example/a', uncertain: 'https://hc.example/c' },
    });
    const without = await definitionAfter({
      dst: { gap: null, repeat: null },
      ping: { success: null, uncertain: null },
    });
    expect(without).not.toHaveProperty('dst');
    expect(without).not.toHaveProperty('ping');
  });

  it.each(['skip', ['skip'], 7])('refuses %j in place of the parts of dst', async (dst) => {
    await expect(crons.set(NAME, { dst } as never, ORDER)).rejects.toThrow(
      'option "dst" of the cron: expected an object',
    );
  });

  it('replaces a payload and tags as a whole', async () => {
    expect(await definitionAfter({ payload: { month: 4 }, tags: ['us'] })).toMatchObject({
      payload: { month: 4 },
      tags: ['us'],
    });
  });

  it('replaces a schedule by an interval, and the other way round', async () => {
    const every = await definitionAfter({ every: '30s' });
    expect(every).toMatchObject({ expression: '@every 30s', timeZone: 'UTC', graceMs: 300_000, handler: 'mail' });
    expect(every).not.toHaveProperty('dst');
    expect(await definitionAfter({ expression: '0 5 * * *' })).toMatchObject({
      expression: '0 5 * * *',
      maxCatchUp: 7,
    });
  });

  it('keeps what another order changed meanwhile', async () => {
    const { catalog, clock } = stage;
    let isFirst = true;
    const slow = new CronCatalog({
      clock,
      catalog: {
        ...{ read: (names) => catalog.read(names), since: (...from) => catalog.since(...from) },
        ...{ putMany: (...some) => catalog.putMany(...some), removeMany: (...some) => catalog.removeMany(...some) },
        remove: (...one) => catalog.remove(...one),
        async put(...one) {
          if (isFirst) await crons.set(NAME, { grace: '7m' }, { by: 'eve' });
          isFirst = false;
          return catalog.put(...one);
        },
      },
    });
    expect(await slow.set(NAME, { owner: 'Team Mail' }, ORDER)).toMatchObject({
      generation: 3,
      definition: { owner: 'Team Mail', graceMs: 420_000 },
    });
  });

  it('refuses another generation than the expected one before it looks at the options', async () => {
    const order = { ...ORDER, expected: 7 };
    await expect(crons.set(NAME, { misfire: 'skip' }, order)).rejects.toThrow(CatalogMovedError);
    await expect(crons.set(NAME, { grace: '1m' }, { ...ORDER, expected: null })).rejects.toThrow(CatalogMovedError);
  });

  it.each<[CronChanges, string]>([
    [{ misfire: 'skip' }, '"maxCatchUp" was not named and is kept: name it too, or reset it.'],
    [{ overlap: 'skip' }, '"cancelGrace" was not named and is kept: name it too, or reset it.'],
  ])('names the kept option that makes %j invalid', async (changes, hint) => {
    await expect(crons.set(NAME, changes, ORDER)).rejects.toThrow(hint);
    expect((await crons.get(NAME))?.generation).toBe(1);
  });

  it('blames no kept option where the named one is invalid by itself', async () => {
    await expect(crons.set(NAME, { grace: 'soon' }, ORDER)).rejects.toThrow(
      /^CronCatalog\.set: option "grace"[^"]*"soon"\.$/,
    );
  });

  it.each([false, true])('restores a removed cron with its last definition, disabled: %s', async (disabled) => {
    await crons.set(NAME, { disabled }, ORDER);
    const before = await definition();
    await crons.remove(NAME, ORDER);
    expect(await crons.set(NAME, { grace: '1m' }, ORDER)).toMatchObject({
      ...{ generation: 4, state: disabled ? 'disabled' : 'active' },
      definition: { ...before, graceMs: 60_000 },
    });
  });

  it('restores a cron that a newer build dropped', async () => {
    await stage.declare({ name: 'dropped', graceMs: 5_000 }, { name: 'beside' });
    await stage.declare({ name: 'beside' });
    expect(await crons.get('dropped')).toMatchObject({ state: 'removed' });
    expect(await crons.set('dropped', {}, ORDER)).toMatchObject({ state: 'active', definition: { graceMs: 5_000 } });
  });

  it('needs a schedule for a cron that was never there', async () => {
    await expect(crons.set('fresh', { grace: '1m' }, ORDER)).rejects.toThrow(
      'expected a cron expression, or the option',
    );
  });
});

describe('CronCatalog.preview', () => {
  it('tells what an order would make of a cron, and changes nothing', async () => {
    const { before, declaration } = await crons.preview(NAME, { expression: '0 5 * * *' });
    expect(before).toMatchObject({ generation: 1 });
    expect(declaration).toMatchObject({ definition: { expression: '0 5 * * *', maxCatchUp: 7 }, disabled: false });
    expect((await crons.get(NAME))?.generation).toBe(1);
  });
});

describe('CronCatalog.setMany', () => {
  it('takes a definition as a whole: an option that is left out is the default', async () => {
    await crons.setMany([{ name: NAME, expression: '30 4 * * *' }], ORDER);
    expect(await definition()).toEqual({
      ...{ name: NAME, expression: '30 4 * * *', timeZone: 'UTC', misfire: 'fire-once', overlap: 'skip' },
      ...{ graceMs: 60_000, catchUpWindowMs: null },
    });
  });
});
