import { describe, expect, it } from 'vitest';
import { wallOf } from '../../../test/schedule/wall-oracle.js';
import { changesOf } from '../../../test/schedule/zones.js';
import { MAX_OFFSET, Zone, zoneNamed } from './zone.js';

/** Zones whose clocks have changed oddly, and some that changed them just where the table has a seam. */
const ODD = [
  ...['Europe/Berlin', 'Europe/Chisinau', 'Europe/Kaliningrad', 'Asia/Baku', 'Asia/Baghdad', 'America/Boa_Vista'],
  ...['Africa/Casablanca', 'Africa/Monrovia', 'Australia/Lord_Howe', 'Antarctica/Troll', 'Pacific/Apia'],
  ...['America/Argentina/Tucuman', 'Asia/Gaza', 'Europe/Dublin', 'Asia/Kathmandu'],
];

describe('the table of a zone', () => {
  it.each(ODD)('of %s has every change at its second', (timeZone) => {
    const changes = changesOf(timeZone);
    expect(changes.length).toBeGreaterThan(0);
    for (const change of changes) {
      const { start, before, offset } = zoneNamed(timeZone).offsetIntervalAt(change / 1_000);
      expect([start, before, offset]).toEqual([
        change / 1_000,
        (wallOf(timeZone, change - 1_000) - (change - 1_000)) / 1_000,
        (wallOf(timeZone, change) - change) / 1_000,
      ]);
    }
  });

  it('has intervals that follow each other without a hole, whichever was asked for first', () => {
    const [forwards, backwards] = [new Zone('Europe/Berlin'), new Zone('Europe/Berlin')];
    const [from, to] = [Date.UTC(2020, 0, 1) / 1_000, Date.UTC(2030, 0, 1) / 1_000];
    const ahead = [forwards.offsetIntervalAt(from)];
    while (ahead.at(-1)!.end < to) ahead.push(forwards.offsetIntervalAt(ahead.at(-1)!.end));
    const back = [backwards.offsetIntervalAt(to)];
    while (back[0]!.start > from) back.unshift(backwards.offsetIntervalAt(back[0]!.start - 1));
    expect(ahead).toEqual(back);
    for (const [n, { end, offset }] of ahead.slice(0, -1).entries()) {
      expect(ahead[n + 1]).toMatchObject({ start: end, before: offset });
    }
  });

  it('is one for everybody who asks for the zone', () => {
    expect(zoneNamed('Europe/Berlin')).toBe(zoneNamed('europe/berlin'));
    expect(() => zoneNamed('Mars/Phobos')).toThrow(RangeError);
  });

  it('has nothing to look up in UTC', () => {
    const { start, end, offset } = zoneNamed('UTC').offsetIntervalAt(0);
    expect([start, end, offset]).toEqual([-Infinity, Infinity, 0]);
    expect(zoneNamed('UTC').read(5)).toEqual({ instants: [5], gap: null });
  });

  it('says of a local time when clocks show it: once, twice, or never', () => {
    const berlin = zoneNamed('Europe/Berlin');
    const wall = (text: string) => Date.parse(`${text}Z`) / 1_000;
    expect(berlin.read(wall('2026-07-01T12:00')).instants).toEqual([wall('2026-07-01T10:00')]);
    expect(berlin.read(wall('2026-10-25T02:30')).instants).toEqual([
      wall('2026-10-25T00:30'),
      wall('2026-10-25T01:30'),
    ]);
    const gone = berlin.read(wall('2026-03-29T02:00'));
    expect([gone.instants, gone.gap?.start]).toEqual([[], wall('2026-03-29T01:00')]);
    expect(berlin.read(wall('2026-03-29T03:00')).gap).toBeNull();
  });

  it('reaches as far as clocks have ever been away from UTC', () => {
    for (const timeZone of Intl.supportedValuesOf('timeZone')) {
      const { offset } = zoneNamed(timeZone).offsetIntervalAt(Date.UTC(1800, 0, 1) / 1_000);
      expect(Math.abs(offset)).toBeLessThan(MAX_OFFSET);
    }
  });
});
