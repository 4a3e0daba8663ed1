export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

export function median(values) {
  return quantile(values, 0.5);
}

/** The same numbers from 0 up to 1 for the same seed, so that an order can be had again (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled(values, random) {
  const keyed = values.map((value) => ({ value, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ value }) => value);
}
