/**
 * The number of a set of definitions: larger for a set that the store saw later. Further sets that declare the same explicit
 * number follow it as 42.01, 42.02 and so on.
 */
export type Revision = number;

/** A revision of an app. */
export interface AppRevision {
  readonly app: string;
  readonly revision: Revision;
}

/** Explicit numbers are in between: a former build wrote the time of its files, milliseconds since 1970, or a small number. */
export const MIN_EXPLICIT = 1;
export const MAX_EXPLICIT = 9_999_999_999;

/** How many sets may share an explicit number before their order is no longer told apart. */
export const SETS_PER_NUMBER = 100;

/** Orders of revisions are from the first up to the second; all others were written by a former build. */
const FIRST_ORDER = MIN_EXPLICIT * SETS_PER_NUMBER;
const FORMER_ORDER = (MAX_EXPLICIT + 1) * SETS_PER_NUMBER;

/** How many revisions of an app are remembered: a set that comes back later gets a new number. */
export const KEPT_REVISIONS = 200;

/** Of how many revisions of an app the names are kept: about 40 bytes a cron each. */
export const KEPT_SETS = 16;

/** As stores keep it: a whole number. */
export function orderOf(revision: Revision): number {
  return Math.round(revision * SETS_PER_NUMBER);
}

/** `null` for the number of a former build. */
export function revisionOf(order: number): Revision | null {
  return order < FIRST_ORDER || order >= FORMER_ORDER ? null : order / SETS_PER_NUMBER;
}
