import { describe, expect, it } from 'vitest';
import { parseSchedule, type Schedule } from './schedule.js';
import { Zone } from './zone.js';

const HOUR_MS = 3_600_000;
const [FROM, TO] = [Date.UTC(2026, 0, 1), Date.UTC(2028, 0, 1)];

function schedule(expression: string, timeZone: string): Schedule {
  return parseSchedule({ expression, timeZone, seed: 'a-cron' }, FROM);
}

const utc = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString().slice(0, 16));
const at = (text: string) => Date.parse(`${text}:00Z`);

describe('a fixed time around a change of the clocks', () => {
  it.each([
    [
      'swallowed by the gap: at its end',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T01:30',
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ],
    [
      'at the end of the gap: there, once',
      '0 3 * * *',
      'Europe/Berlin',
      '2026-03-28T02:00',
      '2026-03-29T01:00',
      '2026-03-30T01:00',
    ],
    [
      'repeated: the first time',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T00:30',
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ],
    [
      'swallowed in New York',
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T07:30',
      '2026-03-08T07:00',
      '2026-03-09T06:30',
    ],
    [
      'repeated by half an hour',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-03T14:45',
      '2026-04-04T14:45',
      '2026-04-05T15:15',
    ],
    [
      'swallowed at midnight',
      '0 0 * * *',
      'America/Santiago',
      '2026-09-05T04:00',
      '2026-09-06T04:00',
      '2026-09-07T03:00',
    ],
  ])('is %s', (...[, expression, zone, before, then, after]) => {
    const found = schedule(expression, zone);
    expect(utc(found.next(at(before)))).toBe(then);
    expect(utc(found.next(at(then)))).toBe(after);
    expect(utc(found.previous(at(after)))).toBe(then);
    expect(utc(found.previous(at(then)))).toBe(before);
  });

  it('is not produced again for who asks inside the second copy of the hour, as after a restart', () => {
    const found = schedule('30 2 * * *', 'Europe/Berlin');
    for (const inside of ['2026-10-25T01:00', '2026-10-25T01:29', '2026-10-25T01:31', '2026-10-25T01:59']) {
      expect(utc(found.next(at(inside)))).toBe('2026-10-26T01:30');
      expect(utc(found.previous(at(inside)))).toBe('2026-10-25T00:30');
    }
  });
});

describe('an interval around a change of the clocks', () => {
  it('runs through the repeated hour, and knows nothing of the gap', () => {
    const found = schedule('0,30 2 * * *', 'Europe/Berlin');
    expect(utc(found.next(at('2026-03-28T02:00')))).toBe('2026-03-30T00:00');
    const repeated: (string | null)[] = [];
    for (let n = found.next(at('2026-10-24T12:00')); repeated.length < 5; n = found.next(n ?? 0)) repeated.push(utc(n));
    expect(repeated).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
      '2026-10-26T01:00',
    ]);
  });
});

/** Expressions, and what they say of a minute of the day. */
const EXPRESSIONS: [string, (minute: number) => boolean][] = [
  ['30 2 * * *', (minute) => minute === 150],
  ['0 2 * * *', (minute) => minute === 120],
  ['15 1 * * *', (minute) => minute === 75],
  ['0 0 * * *', (minute) => minute === 0],
  ['45 23 * * *', (minute) => minute === 1_425],
  ['*/20 * * * *', (minute) => minute % 20 === 0],
  ['30 */2 * * *', (minute) => minute % 120 === 30],
  ['0 1,2,3 * * *', (minute) => [60, 120, 180].includes(minute)],
  ['*/7 0-3 * * *', (minute) => minute < 240 && (minute % 60) % 7 === 0],
];

interface Change {
  readonly zone: Zone;
  readonly change: number;
}

/** Every instant around a change, counted minute by minute on the wall, and the rules for fixed times on top. */
function counted(says: (minute: number) => boolean, fixed: boolean, { zone, change }: Change): number[] {
  const [before, after] = [zone.offset(change - 1), zone.offset(change)];
  const minuteOf = (wall: number) => Math.floor((((wall % (24 * HOUR_MS)) + 24 * HOUR_MS) % (24 * HOUR_MS)) / 60_000);
  const found = new Set<number>();
  for (let instant = change - 26 * HOUR_MS; instant <= change + 26 * HOUR_MS; instant += 60_000) {
    const repeated = instant >= change && instant < change + before - after;
    if (says(minuteOf(instant + (instant < change ? before : after))) && !(fixed && repeated)) found.add(instant);
  }
  for (let wall = change + before; wall < change + after; wall += 60_000) {
    if (fixed && says(minuteOf(wall))) found.add(change);
  }
  return [...found].toSorted((a, b) => a - b);
}

function changesOf(zone: Zone): number[] {
  const changes: number[] = [];
  for (let next = zone.nextChange(FROM, TO); next !== null; next = zone.nextChange(next, TO)) changes.push(next);
  return changes;
}

function walked(found: Schedule, from: number, to: number): { forwards: number[]; backwards: number[] } {
  const [forwards, backwards]: [number[], number[]] = [[], []];
  for (let n = found.next(from - 1); n !== null && n <= to; n = found.next(n)) forwards.push(n);
  for (let n = found.previous(to + 1); n !== null && n >= from; n = found.previous(n)) backwards.unshift(n);
  return { forwards, backwards };
}

describe('in every zone there is', () => {
  // Zones that change their clocks at the same instants in the same way have the same answers.
  const kinds = new Map<string, [string, number[]]>();
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const zone = new Zone(name);
    const changes = changesOf(zone);
    if (changes.length > 0) kinds.set(changes.map((change) => [change, zone.offset(change)]).join(), [name, changes]);
  }

  it.each([...kinds.values()])(
    '%s has the same instants forwards, backwards, and counted on the wall',
    (name, changes) => {
      const zone = new Zone(name);
      for (const [expression, says] of EXPRESSIONS) {
        const found = schedule(expression, name);
        const fixed = /^\d+ \d+ /.test(expression);
        for (const change of changes.slice(0, 4)) {
          const expected = counted(says, fixed, { zone, change }).map(utc);
          const { forwards, backwards } = walked(found, change - 26 * HOUR_MS, change + 26 * HOUR_MS);
          expect([expression, forwards.map(utc)]).toEqual([expression, expected]);
          expect([expression, backwards.map(utc)]).toEqual([expression, expected]);
        }
      }
    },
  );

  it('are some that change their clocks', () => {
    expect(kinds.size).toBeGreaterThan(15);
  });
});
