/** What a search says when it is through. */
export interface Report {
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  /** Every state that can be reached was looked at, and none was left out for lack of memory, depth or time. */
  readonly exhaustive: boolean;
  readonly errors: number;
}

const CUT_SHORT = /Search not completed|search depth too small|out of memory|interrupted|memory limit|aborting/i;

/**
 * @param text what the checker printed
 * @param because why it ended, where that was not by itself
 * @throws {Error} when it says nothing that can be read
 */
export function readReport(text: string, because?: string): Report {
  const errors = number(text, /errors: (\d+)/);
  if (errors === null) throw new Error(`The checker has said nothing of errors: ${because ?? text.slice(-500)}`);
  return {
    states: number(text, /^\s*(\d+(?:\.\d+)?(?:e\+\d+)?) states, stored/m) ?? 0,
    transitions: number(text, /^\s*(\d+(?:\.\d+)?(?:e\+\d+)?) transitions \(=/m) ?? 0,
    depth: number(text, /depth reached (\d+)/) ?? 0,
    exhaustive: !CUT_SHORT.test(text) && because === undefined,
    errors,
  };
}

function number(text: string, pattern: RegExp): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
