import { HIDDEN, scrubText, isSecretKey } from './scrub-text.js';

/** No log line needs more depth. */
const DEEPEST = 8;
/** So many values of one line, over all depths: a whole response must not be walked through on the path of a run. */
const MAX_VALUES = 500;

interface Walk {
  /** What the walk is inside of: a value that contains itself has no end. */
  readonly inside: unknown[];
  left: number;
}

/**
 * A value as a log may show it: a copy, without what is named like a secret, at any depth, and without the secrets in its
 * texts. Errors become plain objects, of bytes only the count is shown. Bounded in depth and size, never throws, and leaves
 * the value as it is.
 *
 * Texts lose what `scrubText` finds. What is named `payload` is hidden as a whole.
 */
export function scrub<T>(value: T): T {
  return walked(value, { inside: [], left: MAX_VALUES }) as T;
}

function walked(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') return scrubText(value);
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (walk.inside.includes(value)) return '[circular]';
  if (walk.inside.length >= DEEPEST || walk.left <= 0) return '[more]';
  walk.inside.push(value);
  try {
    return walkedObject(value, walk);
  } catch {
    return '[unreadable]';
  } finally {
    walk.inside.pop();
  }
}

function walkedObject(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return walkedList(value, walk);
  if (value instanceof Error) return walkedError(value, walk);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return scrubText(value.href);
  if (value instanceof RegExp) return scrubText(String(value));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Set) return walkedList([...value], walk);
  if (value instanceof Map) return walkedFields(mapEntries(value), walk);
  if ('toJSON' in value && typeof value.toJSON === 'function') return walked(value.toJSON(), walk);
  return walkedFields(Object.entries(value), walk);
}

function walkedList(list: readonly unknown[], walk: Walk): unknown[] {
  const shown: unknown[] = [];
  for (const value of list) {
    if (walk.left <= 0) return [...shown, '[more]'];
    walk.left -= 1;
    shown.push(walked(value, walk));
  }
  return shown;
}

function walkedFields(entries: readonly (readonly [string, unknown])[], walk: Walk): object {
  const shown: [string, unknown][] = [];
  for (const [key, value] of entries) {
    if (walk.left <= 0) return Object.fromEntries([...shown, ['…', '[more]']]);
    walk.left -= 1;
    shown.push([scrubText(key), isSecretKey(key) ? hidden(value) : walked(value, walk)]);
  }
  return Object.fromEntries(shown);
}

/** Whether there is one is no secret. */
function hidden(value: unknown): unknown {
  return value === null || value === undefined || typeof value === 'boolean' ? value : HIDDEN;
}

/** Name, message and stack aren't enumerable. Other fields, such as a failed command, come from libraries and are left out. */
function walkedError(error: Error, walk: Walk): object {
  const { name, message, stack, cause } = error;
  const said = { type: name, message: scrubText(message), ...(stack === undefined ? {} : { stack: scrubText(stack) }) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const others = error instanceof AggregateError ? { errors: walked(error.errors, walk) } : {};
  return { ...said, ...code, ...others, ...(cause === undefined ? {} : { cause: walked(cause, walk) }) };
}

function mapEntries(map: ReadonlyMap<unknown, unknown>): (readonly [string, unknown])[] {
  return [...map].map(([key, value]) => [typeof key === 'string' ? key : `[${typeof key}]`, value] as const);
}
