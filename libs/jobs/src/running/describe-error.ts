/** Longer ones say no more to whoever reads a list of runs, and would fill the store. */
const LONGEST = 2_000;

/** What an error is recorded as. A NUL is none that PostgreSQL could keep. */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, LONGEST).replaceAll('\0', '\uFFFD');
}
