import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cronRow, WIDE_HEAD, wideCronRow, type Cron } from './cron-rows.js';

/** Of a cron whose history is not read yet. */
const UNREAD = {
  health: { state: 'unknown', text: 'history not read yet' },
  tags: [],
  ...{ description: null, owner: null, runbookUrl: null },
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
  cron('gamma', { ...judged('failing', 'failing (6 in a row)'), tags: ['billing', 'eu'], owner: 'Team Billing' }),
  cron('delta', { ...judged('healthy'), duration: { p50Ms: 10, p95Ms: 90_000 }, startDelayP95Ms: 40 }),
];

describe('the crons of a list', () => {
  it('say their health in words', () => {
    const states = CRONS.map((one) => stripVTControlCharacters(cronRow(one)[3] ?? ''));
    expect(states).toEqual(['history not read yet', 'failing (6 in a row)', 'healthy']);
  });

  it('have tags, owner, percentiles and holder in more columns', () => {
    const rows = CRONS.map((one) => wideCronRow(one));
    expect(rows.every((row) => row.length === WIDE_HEAD.length)).toBe(true);
    expect(rows[2]?.slice(6)).toEqual(['-', '-', '10 ms', '90.0 s', '40 ms', '-', '-', '1']);
    expect(rows[1]?.slice(6, 8)).toEqual(['billing, eu', 'Team Billing']);
  });
});
