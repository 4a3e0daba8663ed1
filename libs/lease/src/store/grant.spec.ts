import { describe, expect, it } from 'vitest';
import { NO_FENCE } from '../base/fence.js';
import { mustStop, renewed, stopAt, trustedUntil } from './grant.js';
import type { Grant } from './grant.js';

const grant: Grant = {
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
    expect(stopAt(grant)).toBe(grant.trustedUntil - 1_000);
    expect(mustStop(grant, stopAt(grant) - 0.1)).toBe(false);
    expect(mustStop(grant, stopAt(grant))).toBe(true);
  });

  it('is the same term after a renewal, trusted from when that was sent', () => {
    expect(renewed(grant, 3_000)).toEqual({ ...grant, trustedUntil: trustedUntil(3_000, 6_000) });
  });
});
