/**
 * Where a value holds something that JSON would drop or change (a date, NaN, `undefined`, a circle): the keys that lead there,
 * none for the value itself. `null` when JSON keeps all of it.
 *
 * Written out, because comparing with what JSON makes of it says that something is lost and not what.
 */
export function lostInJson(value: unknown, around: readonly unknown[] = []): readonly string[] | null {
  if (typeof value !== 'object' || value === null) return isKept(value) ? null : [];
  if (around.includes(value) || !isPlain(value)) return [];
  for (const [key, part] of Object.entries(value)) {
    const lost = lostInJson(part, [...around, value]);
    if (lost !== null) return [key, ...lost];
  }
  return null;
}

function isKept(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function isPlain(value: object): boolean {
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  if (Array.isArray(value)) return isDense(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** JSON fills a hole in a list with null, and drops names that stand beside its places. */
function isDense(list: readonly unknown[]): boolean {
  const keys = Object.keys(list);
  return keys.length === list.length && keys.every((key, place) => key === String(place));
}
