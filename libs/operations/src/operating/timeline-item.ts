/** What became of an instant, or of a run that somebody asked for, in a word. */
export type Outcome =
  | ('ran' | 'late' | 'running' | 'waiting' | 'retried' | 'failed' | 'cancelled')
  | ('uncertain' | 'skipped' | 'merged' | 'missed' | 'ahead');

/** What became of an instant, of several next to each other, or of a run that somebody asked for. */
export interface TimelineItem {
  /** The instant, of several the first. Epoch milliseconds, as all instants here. */
  readonly scheduledAt: number;
  /** The last of several, `null` for one. */
  readonly until: number | null;
  readonly count: number;
  readonly outcome: Outcome;
  readonly reason: string | null;
  /** Its run, or the one it was merged into. */
  readonly runId: string | null;
  readonly lateByMs: number | null;
  readonly tookMs: number | null;
  readonly attempt: number;
}

export interface TimelinePart {
  readonly items: readonly TimelineItem[];
  /** The first instant that is left out because there were too many; `null` when none is. */
  readonly more: number | null;
}

/** The instants of a cron in a range, with their outcomes. */
export interface Timeline extends TimelinePart {
  readonly cron: string;
  readonly from: number;
  readonly to: number;
  /** The store's clock when it was looked at. */
  readonly now: number;
  /** Up to here the ledger may have forgotten what happened; such instants are left out. `null`: it has not. */
  readonly forgotten: number | null;
}
