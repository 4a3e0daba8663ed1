import type { Holding, ListedHolding } from './lease-store.js';

/**
 * The named parts of a cursor.
 * @throws {RangeError} for one that can't be one
 */
export function checkedCursor(shape: RegExp, cursor: string): Readonly<Record<string, string | undefined>> {
  const { groups } = shape.exec(cursor) ?? {};
  if (groups) return groups;
  throw new RangeError(`Expected the cursor of an earlier page, got ${JSON.stringify(cursor.slice(0, 200))}.`);
}

/** Of names that are all in memory, those that come after one. */
export function pageOfNames(
  all: Iterable<string>,
  after: string | null,
  limit: number,
): { readonly names: readonly string[]; readonly next: string | null } {
  const rest = [...all].filter((name) => after === null || name > after).toSorted();
  const names = rest.slice(0, limit);
  return { names, next: rest.length > limit ? (names.at(-1) ?? null) : null };
}

/** A page of names with what `inspect` says of each: the free ones are left out. */
export function heldOf(names: readonly string[], holdings: readonly (Holding | null)[]): ListedHolding[] {
  return holdings.flatMap((holding, n) => (holding ? [{ resource: names[n] ?? '', ...holding }] : []));
}
