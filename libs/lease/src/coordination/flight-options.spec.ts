import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { NO_FENCE } from '../base/fence.js';
import { flightPlan, usability } from './flight-options.js';

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
