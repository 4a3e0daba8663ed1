import type { z } from 'zod';
import { SetupError } from './errors.js';

type Show = (value: unknown) => string;

/**
 * Validates options once, at the door, and names for each mistake the key, what was expected, and what came.
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

  function sentence(issue: z.core.$ZodIssue): string {
    if (issue.code === 'unrecognized_keys') return `${owner} has no option ${issue.keys.map(quoted).join(', ')}.`;
    const value = issue.path.reduce(inside, options);
    const show = secrets[String(issue.path[0])] ?? quoted;
    const expected = issue.message.replace(/\.$/, '');
    // Without a key nothing says whether it may be shown, and what comes in place of options is often an address.
    if (issue.path.length === 0) return `${owner}, options: ${expected}, got ${kindOf(options)}.`;
    const got = value === undefined ? 'nothing' : show(value);
    return `${owner}, option ${quoted(issue.path.join('.'))}: ${expected}, got ${got}.`;
  }
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
