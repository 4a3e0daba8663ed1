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
  // Plain loops: the pairs of entries() are as much garbage as the results.
  for (let index = 0; index < items.length; index += 1) {
    results.push(map(items[index] as Item, index));
    yield;
  }
  return results;
}

/** Those that fit, in slices. */
export function filterInSlices<Item>(items: readonly Item[], fits: (item: Item) => boolean): Promise<Item[]> {
  return inSlices(filtered(items, fits));
}

/** Items that are looked at between two looks at the clock, where each takes next to nothing. */
const AT_ONCE = 200;

function* filtered<Item>(items: readonly Item[], fits: (item: Item) => boolean): Generator<void, Item[]> {
  const found: Item[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index] as Item;
    if (fits(item)) found.push(item);
    if (index % AT_ONCE === 0) yield;
  }
  return found;
}

type Compare<Item> = (a: Item, b: Item) => number;

/** A stable sort in slices: a hundred thousand at once would hold the event loop for a few hundred milliseconds. */
export function sortInSlices<Item>(items: readonly Item[], compare: Compare<Item>): Promise<Item[]> {
  return inSlices(sorted(items, compare));
}

function* sorted<Item>(items: readonly Item[], compare: Compare<Item>): Generator<void, Item[]> {
  let rows: Item[][] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    rows.push(items.slice(at, at + AT_ONCE).toSorted(compare));
    yield;
  }
  while (rows.length > 1) {
    const next: Item[][] = [];
    for (let n = 0; n < rows.length; n += 2) next.push(yield* mergedRows(rows[n] ?? [], rows[n + 1] ?? [], compare));
    rows = next;
  }
  return rows[0] ?? [];
}

/** Two sorted rows as one; of equals those of the first come first. */
export function mergeInSlices<Item>(a: readonly Item[], b: readonly Item[], compare: Compare<Item>): Promise<Item[]> {
  return inSlices(mergedRows(a, b, compare));
}

function* mergedRows<Item>(a: readonly Item[], b: readonly Item[], compare: Compare<Item>): Generator<void, Item[]> {
  const all: Item[] = [];
  let n = 0;
  for (const [index, item] of a.entries()) {
    for (let next = b[n]; next !== undefined && compare(next, item) < 0; next = b[++n]) all.push(next);
    all.push(item);
    if (index % AT_ONCE === 0) yield;
  }
  for (; n < b.length; n += 1) all.push(b[n] as Item);
  return all;
}
