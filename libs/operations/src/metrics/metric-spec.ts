/** The values that a label can take; `null` for a bounded set that is not listed. */
export type LabelValues = readonly string[] | null;

/** One metric, as registration, the table of the docs, the dashboard and the alerts know it. */
export interface MetricSpec {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Of its values: an instant is in seconds since 1970, what is only counted has none. */
  readonly unit: 'seconds' | 'milliseconds' | null;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Of a histogram, in its unit. */
  readonly buckets?: readonly number[];
  /** Which processes show it; a quorum of Redis servers is never that of a pod, but of an application of one's own. */
  readonly by: 'scheduler' | 'worker' | 'both' | 'quorum';
}

/** The names of crons, up to a configured number, and `other` for the rest. */
export const NAMES: LabelValues = null;

/** The operations of `store.failed` and `queue.failed`, a closed type: their series begin with the first failure. */
export const OPERATIONS: LabelValues = null;
