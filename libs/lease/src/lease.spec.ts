import { describe, expect, it } from 'vitest';
import { NO_FENCE } from './fence.js';
import { mustStop, renewed, stopAt, trustedUntil } from './lease.js';
import type { Lease } from './lease.js';

const lease: Lease = {
  resource: 'r',
  nonce: 'n',
  holder: 'pod/1',
  fence: NO_FENCE,
  ttlMs: 6_000,
  trustedUntil: trustedUntil(1_000, 6_000),
};

describe('a lease', () => {
  it('is trusted from when it was asked for, less 1 % and 2 ms of drift', () => {
    expect(trustedUntil(1_000, 6_000)).toBe(1_000 + 6_000 - 60 - 2);
  });

  it('has to be given up when less than a sixth of its ttl is left', () => {
    expect(stopAt(lease)).toBe(lease.trustedUntil - 1_000);
    expect(mustStop(lease, stopAt(lease) - 0.1)).toBe(false);
    expect(mustStop(lease, stopAt(lease))).toBe(true);
  });

  it('is the same term after a renewal, trusted from when that was sent', () => {
    expect(renewed(lease, 3_000)).toEqual({ ...lease, trustedUntil: trustedUntil(3_000, 6_000) });
  });
});
