import { describe, expect, it } from 'vitest';
import { BitField } from './bit-field.js';

describe('a bit field', () => {
  it.each([[[0]], [[59]], [[31, 32]], [[0, 15, 30, 45]], [[63]], [Array.from({ length: 60 }, (_, n) => n)], [[1, 31]]])(
    'of %j finds what a list would find, from everywhere',
    (values) => {
      const field = new BitField(values);
      for (let from = -1; from < 64; from += 1) {
        expect(field.atOrBefore(from)).toBe(values.findLast((value) => value <= from) ?? -1);
        if (from < 0) continue;
        expect(field.atOrAfter(from)).toBe(values.find((value) => value >= from) ?? -1);
        expect(field.has(from)).toBe(values.includes(from));
      }
    },
  );
});
