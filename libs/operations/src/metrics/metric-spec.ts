/** The values a label can take; `null` for names, of which only so many are told apart. */
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

/** Values of a label that are no list: the names of crons, up to the bound, and `other` for the rest. */
export const NAMES: LabelValues = null;
