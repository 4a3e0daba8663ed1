/**
 * Numbers from 0 up to 1 that follow from `seed` alone (the mulberry32 generator): good enough to choose a victim, and the
 * same choices again for somebody who wants to see a run again.
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Near seeds have to give far worlds. */
export function mixed(seed: number, n: number): number {
  const mix = Math.imul(seed ^ Math.imul(n + 1, 0x9e3779b1), 0x85ebca6b);
  return (mix ^ (mix >>> 13)) >>> 0;
}

/**
 * What has to happen at least once, or a run has proved nothing of it: each kind of fault, and each branch in which a
 * defence refuses somebody. After the "sometimes" assertions of Antithesis, and TigerBeetle's coverage marks.
 */
export class Sometimes<Name extends string = string> {
  readonly #counts: Map<Name, number>;

  /** @param expected everything that has to be seen */
  constructor(expected: readonly Name[]) {
    this.#counts = new Map(expected.map((name) => [name, 0]));
  }

  /** @throws for a name that nobody declared: it would never be missed */
  saw(name: Name, times = 1): void {
    const count = this.#counts.get(name);
    if (count === undefined) throw new Error(`Expected "${name}" to be declared among what has to happen.`);
    this.#counts.set(name, count + times);
  }

  /** What was seen elsewhere, of a process or another seed. */
  add(counts: Readonly<Record<string, number>>): void {
    for (const [name, times] of Object.entries(counts)) this.saw(name as Name, times);
  }

  get counts(): Readonly<Record<Name, number>> {
    return Object.fromEntries(this.#counts) as Record<Name, number>;
  }

  /** In the order declared. */
  missing(): Name[] {
    return [...this.#counts].flatMap(([name, count]) => (count === 0 ? [name] : []));
  }
}
