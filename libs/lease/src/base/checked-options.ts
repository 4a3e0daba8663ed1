import type { z } from 'zod';
import { SetupError } from './errors.js';

type Show = (value: unknown) => string;

/**
 * Validates options once, at the boundary, and names for each mistake the key, the expectation and the value.
 * @param owner whose options they are, as a person would look for them: `LeaseModule`
 * @param secrets how to show the values that may hold a password, by key
 * @throws {SetupError} with one sentence per mistake
 */
export function checkedOptions<S extends z.ZodType>(
  { owner, schema, secrets = {} }: { owner: string; schema: S; secrets?: Record<string, Show> },
  options: unknown,
): z.output<S> {
  const result = schema.safeParse(options);
  if (result.success) return result.data;
  throw new SetupError(result.error.issues.map((issue) => sentence(issue)).join(' '));

  function unknownOption(key: string, path: readonly PropertyKey[]): string {
    const instead = knownInstead(key, namesAt(schema, path));
    const end = instead.endsWith('?') ? '' : '.';
    return `${owner} has no option ${quoted([...path, key].join('.'))}; ${instead}${end}`;
  }

  function sentence(issue: z.core.$ZodIssue): string {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownOption(key, issue.path)).join(' ');
    const value = issue.path.reduce(inside, options);
    const show = secrets[String(issue.path[0])] ?? quoted;
    const expected = issue.message.replace(/\.$/, '');
    // Without a key it is unknown whether the value may be shown: a value in place of options is often an address.
    if (issue.path.length === 0) return `${owner}, options: ${expected}, got ${kindOf(options)}.`;
    const got = value === undefined ? 'nothing' : show(value);
    return `${owner}, option ${quoted(issue.path.join('.'))}: ${expected}, got ${got}.`;
  }
}

/** The path of an issue within an object. */
interface Definition {
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
}

/** The options that there are at a place. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const { shape, innerType, in: input, element, valueType, options = [] } = schema.def as Definition;
  const [key, ...rest] = path;
  if (shape) {
    const next = key === undefined ? undefined : shape[String(key)];
    return key === undefined ? Object.keys(shape) : next ? namesAt(next, rest) : [];
  }
  const item = element ?? valueType;
  if (item) return key === undefined ? [] : namesAt(item, rest);
  const through = [innerType, input, ...options].filter((each) => each !== undefined);
  return [...new Set(through.flatMap((each) => namesAt(each, path)))];
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  return value === null ? 'null' : `a ${typeof value}`;
}

function inside(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function quoted(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

const MAX_SUGGESTIONS = 5;

/**
 * Suggestions for a mistyped name, the likeliest first: names that contain it or that it contains, and names within
 * a Levenshtein distance of a third of its letters, at least two.
 */
export function nearNames(mistyped: string, names: readonly string[]): string[] {
  const word = mistyped.toLowerCase();
  const max = Math.max(2, Math.floor(word.length / 3));
  return names
    .map((name) => ({ name, distance: distanceOf(word, name.toLowerCase(), max) }))
    .filter(({ distance }) => distance <= max)
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

function distanceOf(word: string, name: string, max: number): number {
  const [shorter, longer] = word.length < name.length ? [word, name] : [name, word];
  if (shorter.length > 2 && longer.includes(shorter)) return 0;
  // A cheap lower bound of the distance, which settles max of a long list.
  return longer.length - shorter.length > max ? Infinity : levenshtein(word, name);
}

function levenshtein(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** How a sentence about an unknown name goes on: the name that is meant, or all there are. */
export function knownInstead(mistyped: string, names: readonly string[]): string {
  const [near] = nearNames(mistyped, names);
  return near === undefined ? `known are ${names.join(', ')}` : `did you mean "${near}"?`;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A bare number below this is more often meant as seconds, or minutes, than as milliseconds. */
const MIN_UNAMBIGUOUS = 1_000;

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/**
 * A duration as people write it, in milliseconds.
 * @param value `'500ms'`, `'10s'`, `'5m'`, `'2h'`, `'1d'`, or a whole number of milliseconds
 * @throws {SetupError} for anything else, also for a fraction of a millisecond
 */
export function parseDuration(value: string | number): number {
  const milliseconds = typeof value === 'number' ? value : fromText(value);
  if (Number.isSafeInteger(milliseconds) && milliseconds >= 0) return milliseconds;
  throw new SetupError(
    `Expected a duration such as '500ms', '10s', '5m', '2h' or '1d', or a whole number of milliseconds, got ${JSON.stringify(value)}.`,
  );
}

/**
 * Whether a bare number in an option that is written once may be meant in another unit than milliseconds, such as 60. What is
 * given with a call, as the time left to wait, is often computed, and taken as it is.
 */
export function isAmbiguous(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value < MIN_UNAMBIGUOUS;
}

function fromText(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
}
