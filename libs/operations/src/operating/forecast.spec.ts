import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CronDefinition, CronState } from '@fencepost/ledger/catalog';
import { definitionOf, entryOf, HOUR } from '../../../../test/support/audit-history.js';
import { SCHEMAS } from '../presenting/schemas.js';
import { presentForecast } from '../presenting/forecast.js';
import { Forecasts, type ForecastQuery } from './forecast.js';

const MIDNIGHT = Date.UTC(2026, 2, 28, 23, 59, 59);

function cron(over: Partial<CronDefinition>, state: CronState = 'active'): CatalogEntry {
  const definition = definitionOf(over);
  return entryOf([{ generation: 1, state, definition, since: 0, by: 'a test', reason: null }]);
}

function forecasts(entries: readonly CatalogEntry[], readAt = MIDNIGHT) {
  return new Forecasts({ catalog: { read: async () => ({ version: 1, readAt, entries }) } });
}

function ahead(entries: readonly CatalogEntry[], query: ForecastQuery = {}) {
  return forecasts(entries).ahead(query);
}

describe('what is to come', () => {
  it('is counted by the hour, what does not fire left out', async () => {
    const hourly = cron({ name: 'hourly', expression: '0 * * * *' });
    const found = await ahead([
      ...[
        hourly,
        cron({ name: 'minutely', expression: '* * * * *' }),
        cron({ name: 'three', expression: '0 3 * * *' }),
      ],
      ...[
        cron({ name: 'off', expression: '* * * * *' }, 'disabled'),
        cron({ name: 'gone', expression: '* * * * *' }, 'removed'),
      ],
      cron({ name: 'asked', expression: '@manual' }),
      cron({ name: 'often', expression: '@every 90s' }),
    ]);
    expect(found.perHour.map(({ count }) => count)).toEqual([
      101,
      101,
      101,
      102,
      ...Array.from({ length: 20 }, () => 101),
    ]);
    expect(found.perHour[3]?.at).toBe(MIDNIGHT + 1_000 + 3 * HOUR);
    expect(found.next.slice(0, 3)).toEqual([
      { cron: 'hourly', at: MIDNIGHT + 1_000 },
      { cron: 'minutely', at: MIDNIGHT + 1_000 },
      { cron: 'often', at: MIDNIGHT + 1_000 },
    ]);
  });

  it('has its fullest seconds first, by name, and not those that are spread', async () => {
    const alike = (n: number, over: Partial<CronDefinition> = {}) =>
      Array.from({ length: n }, (_, i) =>
        cron({ name: `c${over.spreadMs ?? ''}-${i + 10}`, expression: '0 3 * * *', ...over }),
      );
    const entries = [...alike(25), ...alike(500, { spreadMs: HOUR }), cron({ name: 'a', expression: '0 3,4 * * *' })];
    const { stampedes, perHour } = await ahead(entries, { hours: 6 });
    expect(stampedes).toHaveLength(1);
    expect(stampedes[0]).toMatchObject({ at: MIDNIGHT + 1_000 + 3 * HOUR, count: 26 });
    expect(stampedes[0]?.crons.slice(0, 2)).toEqual(['a', 'c-10']);
    expect(stampedes[0]?.crons).toHaveLength(20);
    expect(perHour.map(({ count }) => count)).toEqual([0, 0, 0, 526, 1, 0]);
  });

  it('is counted by the hours of a zone, the first and the last only as far as the span goes', async () => {
    const minutely = [cron({ name: 'minutely', expression: '* * * * *' })];
    const at = Date.UTC(2026, 6, 1, 10, 20);
    const { perHour } = await forecasts(minutely, at).ahead({ hours: 2, timeZone: 'Asia/Kolkata' });
    // 15:50 in Kolkata, half an hour beside the hours of UTC.
    const from = (minutes: number) => Date.UTC(2026, 6, 1, 9, 30 + minutes);
    expect(perHour).toEqual([
      { at: from(0), count: 9, peak: 1, peakAt: from(51) },
      { at: from(60), count: 60, peak: 1, peakAt: from(60) },
      { at: from(120), count: 51, peak: 1, peakAt: from(120) },
    ]);
    await expect(forecasts(minutely).ahead({ timeZone: 'Mars/Olympus' })).rejects.toThrow('an IANA time zone');
  });

  it('names the crons of one second, spread ones at the second they are due', async () => {
    const entries = [
      ...Array.from({ length: 600 }, (_, n) => cron({ name: `c${n + 1_000}`, expression: '0 3 * * *' })),
      cron({ name: 'a', expression: '0 3 * * *', spreadMs: HOUR }),
      cron({ name: 'off', expression: '0 3 * * *' }, 'disabled'),
    ];
    const three = MIDNIGHT + 1_000 + 3 * HOUR;
    const due = await forecasts(entries).dueAt(three + 400);
    expect([due.at, due.count, due.crons.length, due.crons[0]]).toEqual([three, 600, 500, 'c1000']);
    expect((await forecasts(entries).dueAt(three - 1_000)).count).toBe(0);
    await expect(forecasts(entries).dueAt(MIDNIGHT - HOUR)).rejects.toThrow('an instant from now to 366 days ahead');
  });

  it('of a tag has its crons alone', async () => {
    const billing = { tags: ['billing'], timeZone: 'Europe/Berlin' };
    const at = forecasts([
      ...[cron({ name: 'a', expression: '0 3 * * *', ...billing }), cron({ name: 'b', expression: '0 3 * * *' })],
      cron({ name: 'c', expression: '0 3 * * *', timeZone: 'America/New_York', tags: ['other'] }),
    ]);
    const all = await at.ahead();
    const { next, perHour, clockChanges } = await at.ahead({ tag: 'billing' });
    expect(all.next.map(({ cron: name }) => name)).toEqual(['a', 'b', 'c']);
    expect(next.map(({ cron: name }) => name)).toEqual(['a']);
    expect(perHour.reduce((sum, { count }) => sum + count, 0)).toBe(1);
    expect(clockChanges.map(({ zone, crons }) => [zone, crons])).toEqual([['Europe/Berlin', 1]]);
    const [due] = next;
    expect((await at.dueAt(due?.at ?? 0, 'billing')).crons).toEqual(['a']);
    expect((await at.dueAt(due?.at ?? 0, 'other')).crons).toEqual([]);
  });

  it('says where clocks change, and what that does', async () => {
    const berlin = { timeZone: 'Europe/Berlin', expression: '30 2 * * *' };
    const found = await ahead([cron({ name: 'a', ...berlin }), cron({ name: 'b', ...berlin }), cron({ name: 'c' })]);
    expect(found.clockChanges).toEqual([
      {
        ...{ zone: 'Europe/Berlin', at: Date.UTC(2026, 2, 29, 1), crons: 2 },
        text: 'Clocks in Europe/Berlin go forward by 1 h, from 02:00:00 to 03:00:00: times from 02:00:00 up to 03:00:00 do not exist. 2 crons use this zone.',
      },
    ]);
  });

  it('is as its schema says', async () => {
    const json = presentForecast(await ahead([cron({ name: 'a', timeZone: 'Europe/Berlin' })], { threshold: 2 }));
    expect(SCHEMAS.Forecast.parse(JSON.parse(JSON.stringify(json)))).toEqual(json);
  });

  it.each([{ hours: 0 }, { hours: 169 }, { hours: 1.5 }, { threshold: 1 }])('refuses %j', async (query) => {
    await expect(ahead([], query)).rejects.toThrow('Expected');
  });

  it('of thousands of crons with few rhythms reads and walks each rhythm once', async () => {
    const expressions = ['* * * * * *', '*/5 * * * *', '0 3 * * *', '0 * * * *', '30 2 * * 1'];
    const entries = Array.from({ length: 5_000 }, (_, n) =>
      cron({ name: `c${n}`, expression: expressions[n % 5]!, spreadMs: n % 2 === 0 ? 0 : 60_000 }),
    );
    const { perHour } = await ahead(entries);
    expect(perHour[0]?.count).toBeGreaterThan(3_600_000);
  });
});
