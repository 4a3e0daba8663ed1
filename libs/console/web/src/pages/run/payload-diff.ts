/** A part of two payloads that is another one in each; `undefined` where one of them doesn't have it. */
export interface Difference {
  /** `customer.id`; empty for the whole. */
  readonly path: string;
  readonly is: unknown;
  readonly was: unknown;
}

const MAX_SHOWN = 50;

/** Which parts of two plain values differ, the first {@link MAX_SHOWN}. */
export function differencesOf(is: unknown, was: unknown): readonly Difference[] {
  return [...walked(is, was, '')].slice(0, MAX_SHOWN);
}

function* walked(is: unknown, was: unknown, path: string): Generator<Difference> {
  if (JSON.stringify(is) === JSON.stringify(was)) return;
  if (!isBranch(is) || !isBranch(was) || Array.isArray(is) !== Array.isArray(was)) return yield { path, is, was };
  for (const key of new Set([...Object.keys(is), ...Object.keys(was)])) {
    yield* walked(is[key], was[key], path === '' ? key : `${path}.${key}`);
  }
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
