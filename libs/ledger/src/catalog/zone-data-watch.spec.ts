import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from './definition.js';
import { ZoneDataWatch } from './zone-data-watch.js';

function entry(name: string, over: { timeZone?: string; zoneData?: string; state?: CatalogEntry['state'] }) {
  const { timeZone = 'Europe/Berlin', zoneData = '2025b', state = 'active' } = over;
  return { definition: { name, timeZone } as CatalogEntry['definition'], zoneData, state };
}

describe('another time zone database', () => {
  it('is noticed once for each version, with the crons that were declared with it', () => {
    const watch = new ZoneDataWatch('2025c');
    const entries = [
      entry('a', {}),
      entry('b', { zoneData: '2025c' }),
      entry('c', {}),
      entry('d', { zoneData: '2024a' }),
    ];
    expect(watch.look(entries)).toEqual([
      { theirs: '2025b', ours: '2025c', crons: ['a', 'c'] },
      { theirs: '2024a', ours: '2025c', crons: ['d'] },
    ]);
    expect(watch.look([...entries, entry('e', {})])).toEqual([]);
    expect(watch.look([entry('f', { zoneData: '2026a' })])).toMatchObject([{ theirs: '2026a', crons: ['f'] }]);
  });

  it('changes nothing for a cron in UTC, or one that does not fire', () => {
    const watch = new ZoneDataWatch('2025c');
    expect(watch.look([entry('a', { timeZone: 'UTC' }), entry('b', { state: 'removed' })])).toEqual([]);
    // Not told yet, for what has not been said was not noticed.
    expect(watch.look([entry('b', {})])).toMatchObject([{ crons: ['b'] }]);
  });

  it('is none where everything comes from this process', () => {
    expect(new ZoneDataWatch().look([entry('a', { zoneData: process.versions.tz ?? 'unknown' })])).toEqual([]);
  });
});
