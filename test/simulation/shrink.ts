interface Shrinking<T> {
  /** Together they make it fail. */
  readonly items: readonly T[];
  /** Whether these alone, in their order, still make it fail. */
  readonly fails: (items: readonly T[]) => Promise<boolean>;
  /** Then what was reached by then has to do. */
  readonly maxTrials: number;
}

/**
 * Few of the items that make it fail all the same: none of them can be left out, unless the trials were used up before.
 *
 * Delta debugging, after Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): halves are left
 * out, then quarters, and so on.
 */
export async function shrink<T>({ items, fails, maxTrials }: Shrinking<T>): Promise<readonly T[]> {
  let [left, parts, trials] = [items, 2, 0];
  while (left.length > 0 && trials < maxTrials) {
    const size = Math.ceil(left.length / parts);
    let smaller: readonly T[] | null = null;
    for (let from = 0; from < left.length && trials < maxTrials; from += size) {
      const rest = [...left.slice(0, from), ...left.slice(from + size)];
      trials += 1;
      if (!(await fails(rest))) continue;
      smaller = rest;
      break;
    }
    if (smaller) [left, parts] = [smaller, Math.max(parts - 1, 1)];
    else if (size === 1) break;
    else parts = Math.min(parts * 2, left.length);
  }
  return left;
}
