import { scrubText } from '@fencepost/lease/internal';

/** Longer ones say no more to whoever reads a list of runs, and would fill the store. */
const MAX_LENGTH = 2_000;

/**
 * What an error is recorded as: without the secrets that libraries put into theirs, because everybody who may look at runs
 * sees it, and for as long as the run is kept. A NUL is none that PostgreSQL could keep.
 */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return scrubText(text).slice(0, MAX_LENGTH).replaceAll('\0', '\uFFFD');
}

/** The same error for a queue that keeps message and stack for people to look at. */
export function shownError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(describeError(error));
  const shown = new Error(scrubText(error.message));
  shown.name = error.name;
  if (error.stack !== undefined) shown.stack = scrubText(error.stack);
  return shown;
}
