/** What is asked for: instants in `[from, to)`, and at most so many runs. */
export interface AccountPart {
  readonly from: number;
  readonly to: number;
  readonly most: number;
}

interface Instants {
  /** Of the first run. */
  readonly first: number | undefined;
  /** Of the first run that is too many. */
  readonly beyond: number | undefined;
  readonly to: number;
}

/** Where a part of an account ends: before the instant of the first run that is too many, but not before the first instant's end. */
export function endOfPart({ first, beyond, to }: Instants): number {
  if (first === undefined || beyond === undefined) return to;
  return Math.max(beyond, first + 1);
}
