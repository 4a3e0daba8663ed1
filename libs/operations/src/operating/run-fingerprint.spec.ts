import { describe, expect, it } from 'vitest';
import { errorPattern, fingerprintOf } from './run-fingerprint.js';

describe('the fingerprint of an error', () => {
  it.each([
    ['Error: card 4711 was refused', 'Error: card 9 was refused'],
    ['Error: no row 0190a1b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b', 'Error: no row 11111111-2222-3333-4444-555555555555'],
    ['Error: held by pod/11111111-222222222222', 'Error: held by pod/33333333-444444444444'],
    ['Error: "a b" is unknown', 'Error: "c" is unknown'],
    ["Error: 'a' is unknown", "Error: 'b' is unknown"],
    ['Error: commit deadbeef01 is gone', 'Error: commit 0badc0de99 is gone'],
    ['Error: connect ECONNREFUSED 10.0.0.7:6379', 'Error: connect ECONNREFUSED 10.0.0.12:6380'],
    ['Error: not since 2026-11-21T03:00:00.000Z', 'Error: not since 2025-01-02T04:05:06.789Z'],
    ['Error: nightly@1763607600000 is over', 'Error: nightly@1763611200000 is over'],
    ['Error: no\n  at one', 'Error: no\n  at another'],
  ])('is the same for %j and %j', (one, other) => {
    expect(fingerprintOf(one)).toBe(fingerprintOf(other));
  });

  it.each([
    ['Error: the card was refused', 'Error: the card has expired'],
    ['TypeError: no', 'Error: no'],
    ["Error: it didn't start", "Error: it didn't end"],
  ])('differs for %j and %j', (one, other) => {
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });

  it('is 16 hexadecimal digits of a pattern that a person can read', () => {
    expect(errorPattern('Error: step "a" took 12.5 s of 0xff')).toBe('Error: step * took * s of *');
    expect(fingerprintOf('Error: no')).toMatch(/^[\da-f]{16}$/);
  });

  it('reads a long message in no time', () => {
    const began = performance.now();
    fingerprintOf(`Error: ${'"a@'.repeat(100_000)}`);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
