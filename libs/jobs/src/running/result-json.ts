/** Data as JSON, or why it can't be kept as such: a sentence, or what `JSON.stringify` threw. */
export type ResultJson = { readonly json: string } | { readonly why: unknown };

/** Never throws: what a getter or `toJSON` of the value throws is the reason. */
export function resultJson(result: unknown, maxBytes: number): ResultJson {
  try {
    const json: string | undefined = JSON.stringify(result);
    if (json === undefined) return { why: 'it is not data' };
    const lost = lostInResult(result);
    if (lost !== null) return { why: `JSON can't carry ${lost}` };
    const bytes = Buffer.byteLength(json);
    return bytes <= maxBytes ? { json } : { why: `it is larger than ${maxBytes / 1_024} KiB (${bytes} bytes)` };
  } catch (why) {
    return { why };
  }
}

/** Why a result can't be kept, for a sentence. */
export function whyNotKept(why: unknown): string {
  return why instanceof Error ? `JSON can't carry it (${why.message.split('\n')[0]})` : String(why);
}

/**
 * The first part of a result that JSON would silently change, and its path; `null` if there is none. Values with `toJSON`, such
 * as dates, are fine: they say themselves what they become. `undefined` is absent from an object for whoever reads it too; in
 * an array it would become `null`.
 */
function lostInResult(value: unknown, path = 'result'): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${value} (at ${path})`;
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value} (at ${path})`;
  if (typeof value !== 'object' || value === null) return null;
  if ('toJSON' in value && typeof value.toJSON === 'function') return null;
  if (Array.isArray(value)) return firstLost(value.entries(), (index) => `${path}[${index}]`);
  if (!isPlain(value)) return `${instance(value)} (at ${path})`;
  return firstLost(Object.entries(value), (key) => `${path}.${key}`, { mayBeAbsent: true });
}

function firstLost<Key>(
  parts: Iterable<[Key, unknown]>,
  pathOf: (key: Key) => string,
  { mayBeAbsent = false } = {},
): string | null {
  for (const [key, part] of parts) {
    const lost = part === undefined && !mayBeAbsent ? `undefined (at ${pathOf(key)})` : lostInResult(part, pathOf(key));
    if (lost !== null) return lost;
  }
  return null;
}

/** Also when it comes from another realm, as in tests of Jest: nothing is above the prototype of plain objects. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function instance(value: object): string {
  const { constructor: made } = value as { readonly constructor?: { readonly name: string } };
  return `an instance of ${made?.name || 'a class'}`;
}
