import { describe, expect, it } from 'vitest';
import { KEPT_GENERATIONS, type CatalogEntry, type CronDefinition, type Generation } from '@fencepost/ledger/catalog';
import { leaseOf } from '../../../../test/support/planning-stage.js';
import { holdCron } from '../scheduling/held-cron.js';
import { leftoverRanges, newestRange, type SharedSchedule } from './schedules.js';

const SCHEDULE: SharedSchedule = { next: () => null, previous: () => null, spreadOverMs: 1_000 };
const DAY = 24 * 3_600_000;
/** So long before the first instants here that a catalog has forgotten what was removed then. */
const LONG_AGO = 300 - DAY;
const schedules = { of: ({ expression }: CronDefinition) => (expression === 'unreadable' ? null : SCHEDULE) };

const definition: CronDefinition = {
  ...{ name: 'c', expression: '* * * * *', timeZone: 'UTC' },
  ...{ misfire: 'fire-once', overlap: 'skip', graceMs: 0, catchUpWindowMs: null },
};

function generation(n: number, over: Partial<Generation> = {}): Generation {
  return {
    generation: n,
    state: 'active',
    definition: { ...definition },
    since: n * 100,
    by: 'me',
    reason: null,
    ...over,
  };
}

/** Generations 3 to `newest`, each effective at a hundred times its number. */
function entryOf(newest: number, over: Partial<Generation> = {}, past?: Generation[]): CatalogEntry {
  const before = past ?? Array.from({ length: newest - 3 }, (_, n) => generation(n + 3));
  return { ...generation(newest, over), past: before, app: null, revision: null, zoneData: 'x' };
}

const left = (entry: CatalogEntry, cursor: number | null) =>
  leftoverRanges({ entry, cursor }, schedules).map(({ generation: of, from, until, schedule }) => ({
    ...{ of, from, until, readable: schedule !== null },
  }));

describe('what is left of former generations', () => {
  it('is nothing as soon as the cursor is in the newest one', () => {
    expect(left(entryOf(5), 500)).toEqual([]);
    expect(left(entryOf(5), 900)).toEqual([]);
  });

  it('is nothing for a new cron, which has missed nothing before it was made', () => {
    expect(left(entryOf(3), null)).toEqual([]);
  });

  it('is each of them from where it began to where the next one did', () => {
    expect(left(entryOf(5), 350)).toEqual([
      { of: 3, from: 300, until: 400, readable: true },
      { of: 4, from: 400, until: 500, readable: true },
    ]);
    expect(left(entryOf(5), null)).toEqual(left(entryOf(5), 350));
    expect(left(entryOf(5), 400)).toEqual([{ of: 4, from: 400, until: 500, readable: true }]);
  });

  it('is one unknown range before the oldest generation kept, if the ledger has a cursor before it', () => {
    expect(left(entryOf(4), LONG_AGO)).toEqual([
      { of: 3, from: LONG_AGO, until: 300, readable: false },
      { of: 3, from: 300, until: 400, readable: true },
    ]);
    expect(left(entryOf(3), LONG_AGO)).toEqual([{ of: 3, from: LONG_AGO, until: 300, readable: false }]);
    expect(left(entryOf(4), 300)).toEqual([{ of: 3, from: 300, until: 400, readable: true }]);
  });

  it.each(['disabled', 'removed'] as const)(
    'has no instants of one that was %s, and ends where that began',
    (state) => {
      const entry = entryOf(6, {}, [generation(3), generation(4, { state }), generation(5)]);
      expect(left(entry, 300).map(({ of, from, until }) => [of, from, until])).toEqual([
        [3, 300, 400],
        [5, 500, 600],
      ]);
    },
  );

  it('is left also when the newest does not fire', () => {
    expect(left(entryOf(4, { state: 'disabled' }), 350)).toHaveLength(1);
  });

  it('is an unknown range if this pod cannot parse the definition', () => {
    const unreadable = generation(3, { definition: { ...definition, expression: 'unreadable' } });
    expect(left(entryOf(4, {}, [unreadable]), 300)).toEqual([{ of: 3, from: 300, until: 400, readable: false }]);
  });
});

const hold = (entry: CatalogEntry) => holdCron(entry, leaseOf('c', 1));

describe('the first generation of a catalog that was lost', () => {
  const lost = (entry: CatalogEntry, cursor: number, bornAt: number | null) => {
    const held = { entry, cursor, newest: null };
    const all = [...leftoverRanges(held, schedules, bornAt), newestRange(held, schedules, bornAt)];
    return all.map((one) => one && [one.generation, one.from, one.schedule === null ? 'unknown' : 'known']);
  };

  it('begins at the cursor, however old that is, when the catalog was born within a day before it', () => {
    expect(lost(entryOf(3), LONG_AGO, 299)).toEqual([[3, LONG_AGO, 'known']]);
    expect(lost(entryOf(3), LONG_AGO, 303 - DAY + 2_000)).toEqual([[3, LONG_AGO, 'known']]);
    expect(lost(entryOf(3), LONG_AGO, 300 - DAY + 2_000)).toEqual([
      [3, LONG_AGO, 'unknown'],
      [3, 300, 'known'],
    ]);
  });

  it('begins at the cursor when that is too young for a cron the catalog has forgotten, however old the catalog is', () => {
    for (const bornAt of [null, LONG_AGO]) expect(lost(entryOf(3), 200, bornAt)).toEqual([[3, 200, 'known']]);
  });

  it('begins where it says when it does not fire, or may not be the first', () => {
    const disabled = entryOf(4, {}, [generation(3, { state: 'disabled' })]);
    expect(lost(disabled, 200, 250)).toEqual([
      [3, 200, 'unknown'],
      [4, 400, 'known'],
    ]);
    expect(lost(entryOf(3 + KEPT_GENERATIONS), 200, 250)[0]).toEqual([3, 200, 'unknown']);
    expect(lost(entryOf(2 + KEPT_GENERATIONS), 200, 250)[0]).toEqual([3, 200, 'known']);
  });

  it('begins where it says as soon as the cursor has passed it', () => {
    const held = { entry: entryOf(3), cursor: 200, newest: null };
    expect(newestRange(held, schedules, 250)).toMatchObject({ from: 200 });
    held.cursor = 350;
    const passed = newestRange(held, schedules, 250);
    expect(passed).toMatchObject({ from: 300 });
    expect(newestRange(held, schedules, 250)).toBe(passed);
  });
});

describe('the newest generation', () => {
  it.each(['disabled', 'removed'] as const)('is none when the cron is %s', (state) => {
    expect(newestRange(hold(entryOf(4, { state })), schedules)).toBeNull();
  });
});
