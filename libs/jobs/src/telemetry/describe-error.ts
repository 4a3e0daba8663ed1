import { scrubText } from '@fencepost/lease/internal';

/** Longer texts add nothing in a list of runs, and would fill the store. */
const MAX_LENGTH = 2_000;

/**
 * The text of an error for records, without the secrets that libraries put into messages: every viewer of runs sees it, for
 * as long as the run is kept. NUL is replaced, because PostgreSQL cannot store it.
 */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return scrubText(text).slice(0, MAX_LENGTH).replaceAll('\0', '\uFFFD');
}

/** The same error for a queue, which shows message and stack. */
export function shownError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(describeError(error));
  const shown = new Error(scrubText(error.message));
  shown.name = error.name;
  if (error.stack !== undefined) shown.stack = scrubText(error.stack);
  return shown;
}
