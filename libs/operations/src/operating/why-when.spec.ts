import { describe, expect, it } from 'vitest';
import { OperatorInputError } from '../../../ledger/src/base/operator-input.js';
import { localTime, readWhen } from './why-when.js';

const AT = Date.UTC(2026, 2, 1);

describe('the time that somebody asks about', () => {
  it.each(['2026-03-01T00:00:00Z', '2026-03-01T01:00+01:00', '2026-03-01T00:00:00.000Z', `${AT}`, ` ${AT} `, AT])(
    'may be an instant, as %j',
    (when) => {
      expect(readWhen(when)).toEqual({ kind: 'instant', at: AT });
    },
  );

  it.each(['2026-03-01 00:00', '2026-03-01T00:00', '2026-03-01 00:00:00'])('may be a local time, as %j', (when) => {
    expect(readWhen(when)).toEqual({ kind: 'local', wall: AT });
  });

  it.each(['now', 'last'] as const)('may be the word %s', (when) => {
    expect(readWhen(when)).toEqual({ kind: when });
  });

  it.each([
    ...['yesterday', '', '2026-02-28', '2026-02-30 10:00', '2026-02-30T10:00:00Z', '2026-03-01 25:00'],
    ...['2026-03-01T00:00:00+99:99', '12', Number.NaN, -1, 1.5, 9e15],
  ])('is refused as %j', (when) => {
    expect(() => readWhen(when)).toThrow(OperatorInputError);
    expect(() => readWhen(when)).toThrow('Expected the time to be an instant such as');
  });
});

describe('a local time', () => {
  const wall = (iso: string) => Date.parse(`${iso}Z`);

  it('is shown once, twice where clocks go back, and never where they go forward over it', () => {
    expect(localTime(wall('2026-03-10T02:30'), 'Europe/Berlin').instants).toEqual([wall('2026-03-10T01:30')]);
    expect(localTime(wall('2026-10-25T02:30'), 'Europe/Berlin').instants).toEqual([
      wall('2026-10-25T00:30'),
      wall('2026-10-25T01:30'),
    ]);
    expect(localTime(wall('2026-03-29T02:30'), 'Europe/Berlin')).toEqual({
      ...{ wall: wall('2026-03-29T02:30'), instants: [] },
      gap: { at: wall('2026-03-29T01:00'), from: wall('2026-03-29T02:00'), to: wall('2026-03-29T03:00') },
    });
  });
});
