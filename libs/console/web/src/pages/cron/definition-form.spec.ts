import { expect, it } from 'vitest';
import type { CronDetail } from '../../data/types.js';
import { formOf, settingsOf } from './definition-form.js';

const DETAIL = {
  ...{ name: 'nightly', expression: '0 3 * * *', timeZone: 'Europe/Berlin', payload: { a: 1 }, handler: null },
  ...{ overlap: 'skip', misfire: 'fire-once', graceMs: 60_000, state: 'active', tags: ['billing', 'eu'] },
  ...{ description: 'Closes the books.', owner: null, runbookUrl: 'https://wiki.example/books' },
} as CronDetail;

it('a form that is opened and sent unchanged says what the cron is', () => {
  expect(settingsOf(formOf(DETAIL))).toEqual({
    ...{ expression: '0 3 * * *', timeZone: 'Europe/Berlin', payload: { a: 1 }, handler: null },
    ...{ maxCatchUp: null, cancelGrace: null },
    ...{ overlap: 'skip', misfire: 'fire-once', grace: '60s', tags: ['billing', 'eu'], disabled: false },
    ...{ description: 'Closes the books.', owner: null, runbookUrl: 'https://wiki.example/books' },
  });
});

it('an interval is an interval, which has no zone', () => {
  const settings = settingsOf({ ...formOf(null), schedule: ' every 30s ' });
  expect(settings).toMatchObject({ every: '30s', payload: null, grace: '60s', tags: [] });
  expect(settings).not.toHaveProperty('expression');
  expect(settings).not.toHaveProperty('timeZone');
});

it('a payload that is no JSON is refused before it is sent', () => {
  expect(() => settingsOf({ ...formOf(DETAIL), payload: '{a' })).toThrow('Expected JSON');
});

it('resets options that are not shown and that another policy makes invalid', () => {
  const companions = (change: object) => {
    const settings = Object.entries(settingsOf({ ...formOf(DETAIL), ...change }));
    const hidden = ['maxCatchUp', 'catchUpWindow', 'cancelGrace', 'maxConcurrency'];
    return settings.filter(([option, value]) => value === null && hidden.includes(option)).map(([option]) => option);
  };
  expect(companions({ misfire: 'fire-all', overlap: 'replace' })).toEqual([]);
  expect(companions({ misfire: 'skip', overlap: 'allow' })).toEqual([
    ...['maxCatchUp', 'catchUpWindow', 'cancelGrace', 'maxConcurrency'],
  ]);
});
