/** Instants that only one of two has: how many, and the first of them. */
export interface Only {
  readonly count: number;
  /** At most {@link SHOWN}, epoch milliseconds. */
  readonly first: readonly number[];
}

export interface InstantDifference {
  /** Fire today, and would not any more. */
  readonly gone: Only;
  /** Would fire, and don't today. */
  readonly added: Only;
}

const SHOWN = 20;

/** Walks through two rising rows of instants once. */
export function instantDifference(live: Iterable<number>, declared: Iterable<number>): InstantDifference {
  const [left, right] = [live[Symbol.iterator](), declared[Symbol.iterator]()];
  const [gone, added] = [new Collected(), new Collected()];
  let [a, b] = [pull(left), pull(right)];
  while (a !== Infinity || b !== Infinity) {
    if (a < b) gone.add(a);
    if (b < a) added.add(b);
    const least = Math.min(a, b);
    if (a === least) a = pull(left);
    if (b === least) b = pull(right);
  }
  return { gone, added };
}

class Collected implements Only {
  count = 0;
  readonly first: number[] = [];

  add(at: number): void {
    this.count += 1;
    if (this.count <= SHOWN) this.first.push(at);
  }
}

function pull(instants: Iterator<number>): number {
  const { done, value } = instants.next();
  return done === true ? Infinity : value;
}
