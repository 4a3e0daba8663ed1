/* What schedulers and people ask the ledger for, and what it answers. */

import type { Fence } from '@fencepost/lease';
import type {
  BlockedReason,
  DroppedNotifications,
  Answer,
  MissedRange,
  OverlapPolicy,
  Pause,
  UnresolvedEffect,
  Run,
  RunReason,
  SkipRange,
} from './run.js';
import type { RunState } from './run-state.js';

/** What the ledger knows of a cron; all zero or `null` for one it has never seen. */
export interface CronRecord {
  /** The highest scheduler fence accepted so far: the floor for the next lease. */
  readonly fence: Fence;
  /** Every instant up to here has a run or a recorded skip. Epoch milliseconds. */
  readonly cursor: number | null;
  readonly generation: number;
  /** How many calls were refused because their fence was stale. */
  readonly refusals: number;
  /** One that has run out is none. */
  readonly paused: Pause | null;
  readonly droppedNotifications: DroppedNotifications | null;
}

export interface ClaimedOccurrence {
  readonly scheduledAt: number;
  readonly dueAt: number;
  readonly reason: RunReason;
  readonly missed: MissedRange | null;
}

export interface ClaimRequest {
  readonly cron: string;
  /** The lease's fence and the nonce of its term: an equal fence counts only for the same term. */
  readonly fence: Fence;
  readonly term: string;
  readonly holder: string;
  readonly generation: number;
  /** Fresh per decision, the same when the call is repeated. */
  readonly nonce: string;
  /** The cursor the plan started from; another one means that somebody else went on meanwhile. */
  readonly cursor: number | null;
  /** Instants before the occurrence that won't run, oldest first. */
  readonly skips: readonly SkipRange[];
  /** How much later than their instants the skips were due: before that nobody may write them off. 0 by default. */
  readonly spreadMs?: number;
  /** `null`: only the skips are to be recorded. */
  readonly occurrence: ClaimedOccurrence | null;
  readonly overlap: OverlapPolicy;
  /** How many runs may be open at once before `overlap` applies; 1 by default. */
  readonly maxConcurrency?: number;
  /** For `replace`: how long the old run may go on; 30 s by default. */
  readonly cancelGraceMs?: number;
  /** Epoch milliseconds after which the run doesn't begin any more; `null` by default. */
  readonly startBy?: number | null;
  /** Kept with the run for whoever carries it out. */
  readonly handler?: string | null;
  /** JSON. */
  readonly payload?: string | null;
}

/** A run that somebody asks for: not an instant that has come. */
export interface TriggerRequest {
  /** `<cron>@manual-<uuid>`, or the natural id of a past instant, or that with `-r1`. */
  readonly runId: string;
  readonly nonce: string;
  /** `null`: now. For a backfill the instant, which has to be behind the cursor. */
  readonly scheduledAt: number | null;
  /**
   * When the cron was made. While nothing of it was ever accounted for, instants up to then may be run: the schedule itself
   * begins after it. `null`, the default: nobody knows.
   */
  readonly cronSince?: number | null;
  readonly reason: Exclude<RunReason, 'schedule'>;
  readonly generation: number;
  readonly by: string;
  readonly payload: string | null;
  readonly handler: string | null;
  readonly missed: MissedRange | null;
  /** `allow` for one that is forced. */
  readonly overlap: OverlapPolicy;
  readonly maxConcurrency?: number;
  readonly cancelGraceMs?: number;
  /** It is due, and begins, no earlier than that, epoch milliseconds; `null`, the default, or an instant that is past: now. */
  readonly notBefore?: number | null;
  /** A whole number from 1, as BullMQ has it; `null`, the default, goes before all of them. */
  readonly priority?: number | null;
  /** A run of the same cron whose effects and items that are done are done for this one too; `null` by default. */
  readonly rerunOf?: string | null;
  /**
   * The id stands for an idempotency key: for this many milliseconds from its first use it makes no second run, whatever
   * becomes of the run's record; `null` by default.
   */
  readonly keyMs?: number | null;
}

export type TriggerReply =
  | { readonly verdict: 'claimed'; readonly runId: string }
  | { readonly verdict: 'skipped'; readonly reason: BlockedReason }
  /** There is a run of this id already. */
  | { readonly verdict: 'exists'; readonly state: RunState }
  /** A natural id whose instant is not behind the cursor yet: it is the schedule's own. */
  | { readonly verdict: 'ahead' }
  /**
   * The run is over, or may be, and its record is gone: an idempotency key within its life, a late duplicate of a trigger, a
   * re-run of a run that is not on record, or an instant that the ledger has accounted for. Nothing was made.
   */
  | { readonly verdict: 'forgotten' };

/** An operator's order: who, and why. */
export interface OperatorOrder {
  readonly by: string;
  readonly reason: string;
}

export interface CancelRequest {
  readonly by: string;
  /** How long a worker may go on. */
  readonly graceMs: number;
}

export type CancelReply =
  | { readonly verdict: 'cancelled' }
  /** A worker carries it out: it is told with its next heartbeat, and fenced out at `until`. */
  | { readonly verdict: 'cancelling'; readonly until: number }
  | { readonly verdict: 'terminal'; readonly state: RunState }
  | { readonly verdict: 'missing' };

/** All that is recorded of the instants in `[from, to)`; the ranges reach beyond it. */
export interface Account {
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
  /** Of instants up to here some may be forgotten: what is missing there says nothing. `null`: nothing is forgotten. */
  readonly forgotten: number | null;
  /** Nothing was read from this instant on, because there were more runs than asked for; absent: all of it was read. */
  readonly more?: number;
}

/** Which runs are counted, and how: of instants in `[from, to)`. */
export interface TallyRequest {
  readonly from: number;
  readonly to: number;
  /** How long a bucket is, milliseconds; buckets begin at multiples of it. */
  readonly bucketMs: number;
  /** A run of the schedule that began later than this after it was due counts as late. */
  readonly graceMs: number;
  /** About so many runs at most: see `more`. */
  readonly most: number;
}

/** Runs of one bucket that have all of this in common. */
export interface TallyRow extends Pick<Run, 'state' | 'reason' | 'skipped'> {
  /** Where the bucket begins, epoch milliseconds. */
  readonly at: number;
  /** More than one attempt. */
  readonly retried: boolean;
  readonly late: boolean;
  /** They have the id that the schedule itself gives their instants. */
  readonly natural: boolean;
  readonly count: number;
}

/** An {@link Account} whose runs are counted instead of listed. */
export interface Tally extends Omit<Account, 'runs'> {
  readonly rows: readonly TallyRow[];
}

export type AccountRequest = [cron: string, from: number, to: number, most?: number];

export type NewestRequest = [crons: readonly string[], limit: number, range?: InstantRange];

/** Nominal instants, epoch milliseconds: from the first one up to `to`, which is not counted in. */
export interface InstantRange {
  readonly from?: number;
  readonly to?: number;
}

export type ClaimReply =
  /** `behind`: as many runs of the cron were open as may be, so the new one waits for them or takes their place. */
  | { readonly verdict: 'claimed'; readonly runId: string; readonly behind?: true }
  | { readonly verdict: 'skipped'; readonly reason: BlockedReason }
  /** The cron is paused: every instant of the plan that has no other reason is recorded as `paused`. */
  | { readonly verdict: 'skipped'; readonly reason: 'paused' }
  /** The skips are recorded; there was no occurrence to claim. */
  | { readonly verdict: 'recorded' }
  | { readonly verdict: 'stale'; readonly fence: Fence }
  | { readonly verdict: 'stale-definition'; readonly generation: number }
  /** The occurrence, or the last of the skips, is due in the future of the store's clock. */
  | { readonly verdict: 'early'; readonly waitMs: number }
  /** The cursor is not where the plan started: read it and plan again. */
  | { readonly verdict: 'moved'; readonly cursor: number | null };

/** One handing over of a run to the queue. */
export interface Delivery {
  readonly runId: string;
  readonly delivery: number;
  /** As in {@link Run}; absent for none. */
  readonly priority?: number;
}

export type ResolveReply =
  /** `delivery` is what the queue is to be given, `null` for a run that was given up. */
  | { readonly verdict: 'resolved'; readonly state: RunState; readonly delivery: Delivery | null }
  /** It waits for no answer, or not any more. */
  | { readonly verdict: 'certain'; readonly state: RunState }
  /** The run waits for an answer about another effect or attempt; nothing changed. */
  | { readonly verdict: 'asks-another'; readonly attempt: number; readonly unresolvedEffect: UnresolvedEffect }
  | { readonly verdict: 'missing' };

/** Identifies one unresolved effect of a run: a run that continues may wait for the next item, or for the same one again. */
export interface UnresolvedEffectRef extends Pick<UnresolvedEffect, 'effect' | 'item' | 'since'> {
  /** The attempt that left the run uncertain, as {@link Run} counts them. */
  readonly attempt: number;
}

export interface ResolveRequest extends OperatorOrder {
  readonly nonce: string;
  /** The effect that is answered. The store compares it with the one that the run waits for. */
  readonly unresolvedEffect: UnresolvedEffectRef;
  readonly answer: Answer;
}

/** A run that is due for a look, and its last delivery: that may be lost, or its worker gone. */
export interface OverdueRun extends Delivery {
  readonly state: RunState;
}

export interface OverdueRuns {
  readonly runs: readonly OverdueRun[];
  /** How many runs will be due for a look some time, these included; 0: nothing of the cron is open. */
  readonly watched: number;
  /** There are more runs, or more skip ranges, than are kept: `forget` may have something to do. */
  readonly surplus: boolean;
  /** How many notifications wait to be settled. */
  readonly notifications: number;
}

export interface OverdueOptions {
  /** A run that is shown is shown again after this many milliseconds. */
  readonly againMs: number;
  /** How many runs, and how many skip ranges, of a cron are kept. */
  readonly keep: number;
}
