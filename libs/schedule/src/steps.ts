/** How a schedule finds its instants. Whole seconds; both directions include where they begin, and stop at `limit`. */
export interface Steps {
  /** The first instant that is not before `from`; `Infinity` when none comes up to `limit`. */
  atOrAfter(from: number, limit: number): number;
  /** The last instant that is not after `to`; `-Infinity` when none comes back to `limit`. */
  atOrBefore(to: number, limit: number): number;
}
