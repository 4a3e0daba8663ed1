import { describeError } from '../telemetry/report-failure.js';
import { CronDeclarationError } from './cron-declaration.js';
import type { CronMetadata } from './decorated-methods.js';

/** What may be given as a function, and what that function returns. */
const RETURNED = {
  expression: 'a cron expression',
  every: "an interval such as '30s'",
  timeZone: 'an IANA time zone such as "Europe/Berlin" or "UTC"',
  disabled: 'true or false',
} as const;

type Option = keyof typeof RETURNED;
const OPTIONS = ['every', 'timeZone', 'disabled'] as const satisfies readonly Option[];

/**
 * Replaces the functions among the decorator's arguments by what they return; the result is checked like literal values.
 * @param where class and method, for the message
 * @param self the provider
 * @throws {CronDeclarationError} for a function that throws or returns nothing
 */
export function resolvedAtBoot(where: string, { expression, options }: CronMetadata, self: unknown): CronMetadata {
  const resolve = (option: Option, given: unknown) =>
    typeof given === 'function' ? returned(where, option, () => Reflect.apply(given, undefined, [self])) : given;
  const resolved = { expression: resolve('expression', expression), options };
  if (typeof options !== 'object' || options === null) return resolved;
  const all: Record<string, unknown> = { ...options };
  for (const option of OPTIONS) if (option in all) all[option] = resolve(option, all[option]);
  return { ...resolved, options: all };
}

function returned(where: string, option: Option, call: () => unknown): unknown {
  const [what, expected] = [nameOf(option), RETURNED[option]];
  let value: unknown;
  try {
    value = call();
  } catch (cause) {
    const problem = `${what}: expected ${expected}, and its function threw ${describeError(cause)}.`;
    throw new CronDeclarationError(where, problem, { cause });
  }
  // An unset variable must not silently become the option's default, such as UTC.
  if (value !== undefined && value !== null) return value;
  throw new CronDeclarationError(where, `${what}: expected ${expected} from its function, got nothing.`);
}

function nameOf(option: Option): string {
  return option === 'expression' ? 'the expression of @SingletonCron' : `option "${option}" of @SingletonCron`;
}
