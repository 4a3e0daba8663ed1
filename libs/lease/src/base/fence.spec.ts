import { describe, expect, it } from 'vitest';
import { formatFence, parseFence } from './fence.js';

describe('a fence', () => {
  it.each(['0', '1', '1787654321123456', '9007199254740991'])('comes back from the wire as it went: %s', (text) => {
    expect(formatFence(parseFence(text))).toBe(text);
  });

  it.each(['', '-1', '1.5', '01', '1e3', '1.7876543211235e+15', '9007199254740992', 'NaN', ' 1'])(
    'is never read from %j',
    (text) => {
      expect(() => parseFence(text)).toThrow(RangeError);
    },
  );
});
