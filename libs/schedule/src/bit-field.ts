/** A set of numbers from 0 to 63 as two words of bits, so that the next one is found without a loop. */
export class BitField {
  readonly #low: number;
  readonly #high: number;
  readonly first: number;
  readonly last: number;

  /** @param values at least one */
  constructor(readonly values: readonly number[]) {
    const word = (from: number) =>
      values.reduce((bits, n) => (n >> 5 === from >> 5 ? bits | (1 << (n & 31)) : bits), 0);
    [this.#low, this.#high] = [word(0), word(32)];
    [this.first, this.last] = [Math.min(...values), Math.max(...values)];
  }

  has(value: number): boolean {
    return (((value < 32 ? this.#low : this.#high) >>> (value & 31)) & 1) === 1;
  }

  /** The least one that is not below `value`, which is 0 to 63; -1 without one. */
  atOrAfter(value: number): number {
    if (value < 32) {
      const rest = this.#low >>> value;
      if (rest !== 0) return value + lowestBit(rest);
    }
    const from = value < 32 ? 0 : value - 32;
    const rest = this.#high >>> from;
    return rest === 0 ? -1 : 32 + from + lowestBit(rest);
  }

  /** The greatest one that is not above `value`, which is -1 to 63; -1 without one. */
  atOrBefore(value: number): number {
    if (value >= 32) {
      const rest = this.#high & (-1 >>> (63 - value));
      if (rest !== 0) return 32 + highestBit(rest);
    }
    if (value < 0) return -1;
    const rest = this.#low & (-1 >>> (value < 32 ? 31 - value : 0));
    return rest === 0 ? -1 : highestBit(rest);
  }
}

export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

export function highestBit(word: number): number {
  return 31 - Math.clz32(word);
}
