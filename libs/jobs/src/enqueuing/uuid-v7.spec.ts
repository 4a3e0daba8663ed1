import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { uuidV7 } from './job-order.js';

describe('a UUID of version 7', () => {
  it('has the time first, then version and variant, and is random otherwise', () => {
    expect(uuidV7(0x0190_1234_5678, 'aaaaaaaa-bbbb-4ccc-9ddd-eeeeeeeeeeee')).toBe(
      '01901234-5678-7ccc-9ddd-eeeeeeeeeeee',
    );
    expect(uuidV7(1, randomUUID())).toMatch(/^00000000-0001-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('sorts by time', () => {
    const times = [0, 1, 255, 256, 1_763_607_600_000, 1_763_607_600_001];
    const uuids = times.map((time) => uuidV7(time, randomUUID()));
    expect(uuids).toEqual(uuids.toSorted());
  });
});
