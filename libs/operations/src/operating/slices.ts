import { setImmediate } from 'node:timers';

/** No computation holds the event loop for longer at a time, milliseconds. */
const SLICE_MS = 4;

let last: Promise<void> = Promise.resolve();

/** One computation goes on in each turn of the event loop, however many there are: what is due comes first in between. */
function yieldToLoop(): Promise<void> {
  last = last.then(() => new Promise((resolve) => void setImmediate(resolve)));
  return last;
}

/**
 * Carries a computation out in slices, between which the event loop serves everything else. A pod that answers questions
 * also renews leases and claims what is due.
 * @param work yields after each small step
 */
export async function inSlices<Result>(work: Generator<unknown, Result, undefined>): Promise<Result> {
  for (;;) {
    await yieldToLoop();
    const end = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done === true) return value;
    } while (performance.now() < end);
  }
}

/** The same of each item, in slices. */
export function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  return inSlices(mapped(items, map));
}

function* mapped<Item, Result>(items: readonly Item[], map: (item: Item, index: number) => Result) {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    results.push(map(item, index));
    yield;
  }
  return results;
}
