import type { SkipReason } from '@fencepost/ledger/run';

/**
 * `missed`: an instant with neither a run nor a recorded reason. `doubled`: an instant with more than one scheduled run.
 * `unexplained`: a scheduled run at no instant, of another generation than its instant, in a state that can't be, or at an
 * instant that is recorded as skipped too.
 */
export type AuditFindingKind = 'missed' | 'doubled' | 'unexplained';

export interface AuditFinding {
  readonly kind: AuditFindingKind;
  readonly cron: string;
  /** Epoch milliseconds. */
  readonly instant: number;
  /** One sentence. */
  readonly text: string;
}

/**
 * How many instants there were, and what became of them: each is one of ran, cancelled, skipped, waiting or missed, as long
 * as nothing is unexplained.
 */
export interface AuditCounts {
  readonly instants: number;
  /** A run of it ended, as succeeded or as failed. */
  readonly ran: number;
  /** Somebody told its run to stop. */
  readonly cancelled: number;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Its run is not final yet. */
  readonly waiting: number;
  readonly missed: number;
  /** Runs beyond the first of their instant. */
  readonly doubled: number;
  readonly unexplained: number;
}

export interface CronAudit extends AuditCounts {
  readonly findings: readonly AuditFinding[];
  readonly notCovered: readonly NotCovered[];
}

/** A time of which nothing can be said, epoch milliseconds, and why. */
export interface NotCovered {
  /** `null`: of all crons. */
  readonly cron: string | null;
  readonly from: number;
  readonly to: number;
  /** One sentence. */
  readonly text: string;
}

export interface AuditReport extends AuditCounts {
  /** Nothing was missed, doubled or unexplained. */
  readonly ok: boolean;
  /** Nominal instants from here on are looked at, and all that were due up to `to`, epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** How many crons were looked at. */
  readonly crons: number;
  readonly tookMs: number;
  /** The first {@link MAX_FINDINGS}. */
  readonly findings: readonly AuditFinding[];
  readonly notCovered: readonly NotCovered[];
}

export const MAX_FINDINGS = 1_000;

export type Counting = { -readonly [K in Exclude<keyof AuditCounts, 'skipped'>]: number } & {
  readonly skipped: Record<SkipReason, number>;
};

export function noCounts(): Counting {
  return {
    instants: 0,
    ran: 0,
    cancelled: 0,
    skipped: { overlap: 0, 'no-capable-worker': 0, misfire: 0, merged: 0, paused: 0, superseded: 0 },
    waiting: 0,
    missed: 0,
    doubled: 0,
    unexplained: 0,
  };
}

/** Adds `more` to `sum`. */
export function addCounts(sum: Counting, more: AuditCounts): void {
  for (const key of Object.keys(sum) as (keyof AuditCounts)[]) if (key !== 'skipped') sum[key] += more[key];
  for (const reason of Object.keys(sum.skipped) as SkipReason[]) sum.skipped[reason] += more.skipped[reason];
}
