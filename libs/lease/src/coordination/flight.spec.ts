import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusals.js';
import { FlightValueError } from './flight-errors.js';
import { encodeValue, flightPlan, usability } from './flight.js';
import { SetupError } from '../base/errors.js';
import { NO_FENCE } from '../base/fence.js';

const refusal = (value: unknown, maxBytes = 100) =>
  refusalOf(FlightValueError, () => encodeValue('report:7', value, maxBytes));

describe('a cache entry', () => {
  it.each([[null], [0], [''], [{ lines: [1, 2] }]])('may be %j', (value) => {
    expect(JSON.parse(encodeValue('k', value, 100))).toEqual(value);
  });

  it('is not undefined, and the refusal says what to return instead', () => {
    expect(refusal(undefined)).toBe(
      'The build of "report:7" returned undefined, which JSON cannot express. Return null for no value.',
    );
    expect(refusal(() => 1)).toContain('a function');
  });

  it('is nothing that JSON can not express, and the refusal keeps the cause', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(refusal(circle)).toContain('a value that JSON cannot express');
    expect(refusal({ amount: 1n })).toContain('a value that JSON cannot express');
    expect(() => encodeValue('k', 1n, 100)).toThrow(expect.objectContaining({ cause: expect.any(TypeError) }));
  });

  it('is as large as allowed in bytes and not in characters, quotes included', () => {
    expect(encodeValue('k', 'é'.repeat(49), 100)).toHaveLength(51);
    expect(refusal('é'.repeat(50))).toContain('a value of 102 bytes, more than the 100 allowed');
  });
});

describe('how usable a value is', () => {
  const plan = flightPlan({ fresh: '1m', stale: '10m' });
  const aged = (ageMs: number) => usability({ value: 'v', fence: NO_FENCE, ageMs }, plan);

  it('depends on its age: fresh, then stale for as long as was said, then none', () => {
    expect([aged(0), aged(59_999)]).toEqual(['fresh', 'fresh']);
    expect([aged(60_000), aged(659_999)]).toEqual(['stale', 'stale']);
    expect(aged(660_000)).toBe('none');
    expect(usability(null, plan)).toBe('none');
  });

  it('knows no stale value unless it was asked for', () => {
    expect(usability({ value: 'v', fence: NO_FENCE, ageMs: 60_000 }, flightPlan({ fresh: '1m' }))).toBe('none');
  });

  it('is refused when nothing would ever be fresh, or a duration is none', () => {
    expect(() => flightPlan({ fresh: 0 })).toThrow(SetupError);
    expect(() => flightPlan({ fresh: '1m', wait: 'soon' })).toThrow(SetupError);
  });
});
