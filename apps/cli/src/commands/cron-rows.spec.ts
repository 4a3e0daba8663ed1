import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cronRow, fitting, stateOf, WIDE_HEAD, wideCronRow, type Cron, type CronQuery } from './cron-rows.js';

/** Of a cron whose history is not read yet. */
const UNREAD = {
  health: { state: 'unknown', text: 'history not read yet' },
  tags: [],
  duration: null,
  startDelayP95Ms: null,
};

function cron(name: string, more: Partial<Cron> = {}): Cron {
  const plain = { name, expression: '0 3 * * *', timeZone: 'UTC', state: 'active', paused: null, uncertain: 0 };
  return { ...plain, next: null, last: null, holder: null, fence: null, generation: 1, ...UNREAD, ...more } as Cron;
}

const ran = (state: string) => ({ state, skipped: null, scheduledAt: '2026-01-01T03:00:00.000Z' }) as Cron['last'];
const judged = (state: string, text = state) => ({ health: { state, text } }) as Partial<Cron>;

const CRONS = [
  cron('beta', { last: ran('failed'), next: '2026-01-02T00:00:00.000Z' }),
  cron('alpha', { last: ran('succeeded'), next: '2026-01-01T00:00:00.000Z', tags: ['billing'] }),
  cron('gamma', { ...judged('failing', 'failing (6 in a row)'), tags: ['billing', 'eu'] }),
  cron('delta', { ...judged('healthy'), duration: { p50Ms: 10, p95Ms: 90_000 }, startDelayP95Ms: 40 }),
  cron('epsilon', { state: 'disabled', expression: '@every 30s' }),
  cron('zeta', { uncertain: 1, ...judged('unknown') }),
];

const names = (query: Partial<CronQuery>) => fitting(CRONS, { sort: 'name', ...query }).map(({ name }) => name);

describe('the crons of a list', () => {
  it.each([
    [{}, ['alpha', 'beta', 'delta', 'epsilon', 'gamma', 'zeta']],
    [{ failing: true }, ['beta', 'gamma']],
    [{ state: 'failing' }, ['beta', 'gamma']],
    [{ state: 'uncertain' }, ['zeta']],
    [{ state: 'disabled' }, ['epsilon']],
    [{ state: 'active' }, ['alpha', 'beta', 'delta', 'gamma', 'zeta']],
    [{ tag: 'billing' }, ['alpha', 'gamma']],
    [{ tag: 'billing', failing: true }, ['gamma']],
    [{ search: 'ETA' }, ['beta', 'zeta']],
    [{ search: '@every' }, ['epsilon']],
    [{ sort: 'attention' }, ['zeta', 'beta', 'gamma', 'epsilon', 'delta', 'alpha']],
    [{ sort: 'next', search: 'a' }, ['alpha', 'beta', 'delta', 'gamma', 'zeta']],
    [{ sort: 'duration', search: 'ta' }, ['delta', 'beta', 'zeta']],
  ] as const)('are those that fit %j', (query, expected) => expect(names(query)).toEqual(expected));

  it('say their health in words where it is known, else what the last run says', () => {
    expect(CRONS.map(stateOf)).toEqual(['failing', 'active', 'failing', 'healthy', 'disabled', 'uncertain']);
    expect(stripVTControlCharacters(cronRow(CRONS[2] ?? cron('none'))[3] ?? '')).toBe('failing (6 in a row)');
  });

  it('have tags, percentiles and holder in more columns', () => {
    const rows = CRONS.map((one) => wideCronRow(one));
    expect(rows.every((row) => row.length === WIDE_HEAD.length)).toBe(true);
    expect(rows[3]?.slice(6)).toEqual(['-', '10 ms', '90.0 s', '40 ms', '-', '-', '1']);
    expect(rows[2]?.[6]).toBe('billing, eu');
  });
});
