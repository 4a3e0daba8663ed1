import { ManualClock } from '@fencepost/lease/testing';
import { MemoryCatalog } from '@fencepost/ledger/memory';
import { beforeEach, describe, expect, it } from 'vitest';
import { definitionOf, START } from '../../../../test/support/audit-history.js';
import { CatalogView } from './catalog-view.js';

const clock = new ManualClock(START);
const BY = { by: 'test', reason: null };
let catalog: MemoryCatalog;
let asked: (number | null)[];
let view: CatalogView;

beforeEach(() => {
  catalog = new MemoryCatalog(clock);
  asked = [];
  const since: MemoryCatalog['since'] = (version, after, limit) => {
    asked.push(version);
    return catalog.since(version, after, limit);
  };
  view = new CatalogView({ read: (crons) => catalog.read(crons), since }, clock);
});

const put = (...names: readonly string[]) =>
  catalog.putMany(
    names.map((name) => ({ declaration: { definition: definitionOf({ name }), disabled: false } })),
    BY,
  );
const names = async () => (await view.read()).entries.map(({ definition }) => definition.name);

describe('the copy of a catalog', () => {
  it('is read whole once, page by page, and after that by what has changed', async () => {
    await put(...Array.from({ length: 600 }, (_, n) => `cron-${n}`));
    const whole = await view.read();
    expect([whole.entries.length, asked.every((version) => version === null)]).toEqual([600, true]);
    expect(whole.entries).toEqual((await catalog.read()).entries);
    asked = [];
    expect((await view.read()).entries).toBe(whole.entries);
    await put('cron-00', 'zebra', 'cron-1');
    expect((await view.read()).entries).toEqual((await catalog.read()).entries);
    expect(asked).toEqual([whole.version, whole.version]);
  });

  it('has what was written before the question, also where another reading goes on', async () => {
    await put('a');
    const first = names();
    await put('b');
    expect(await names()).toEqual(['a', 'b']);
    await first;
    await catalog.removeMany([{ cron: 'a' }], BY);
    expect((await view.read()).entries.map(({ state }) => state)).toEqual(['removed', 'active']);
    await clock.advance(2 * 86_400_000);
    await catalog.declare([], { revision: 1, app: 'app' });
    await put('c');
    expect(await names()).toEqual((await catalog.read()).entries.map(({ definition }) => definition.name));
  });

  it('is forgotten when nobody has asked for five minutes', async () => {
    await put('a');
    await view.read();
    asked = [];
    await clock.advance(5 * 60_000);
    expect(await names()).toEqual(['a']);
    expect(asked).toEqual([null]);
    view.close();
  });

  it('hands questions about single crons on', async () => {
    await put('a', 'b');
    expect((await view.read(['b'])).entries).toHaveLength(1);
    expect(asked).toEqual([]);
  });
});
