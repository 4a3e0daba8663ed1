import type { Fence } from '@fencepost/lease';
import type { OverdueOptions, OverdueRuns } from './overdue.js';
import type {
  MissedRange,
  OperatorAction,
  OverlapPolicy,
  Pause,
  Run,
  RunReason,
  SkipRange,
  WaitReason,
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
  readonly reason: Exclude<RunReason, 'schedule'>;
  readonly generation: number;
  readonly by: string;
  /** Why they ask, for the list of operator actions. */
  readonly why: string | null;
  readonly payload: string | null;
  readonly handler: string | null;
  readonly missed: MissedRange | null;
  /** `allow` for one that is forced. */
  readonly overlap: OverlapPolicy;
  readonly maxConcurrency?: number;
  readonly cancelGraceMs?: number;
}

export type TriggerReply =
  | { readonly verdict: 'claimed'; readonly runId: string }
  | { readonly verdict: 'skipped'; readonly reason: 'overlap' }
  /** There is a run of this id already. */
  | { readonly verdict: 'exists'; readonly state: RunState }
  /** A natural id whose instant is not behind the cursor yet: it is the schedule's own. */
  | { readonly verdict: 'ahead' }
  /** A natural id of an instant that the ledger has accounted for and no longer remembers: it may have run. */
  | { readonly verdict: 'forgotten' };

/** An operator's order: who, and why. */
export interface OperatorOrder {
  readonly by: string;
  readonly reason: string;
}

export type CancelReply =
  | { readonly verdict: 'cancelled' }
  /** A worker carries it out: it is told with its next heartbeat, and fenced out at `until`. */
  | { readonly verdict: 'cancelling'; readonly until: number }
  | { readonly verdict: 'terminal'; readonly state: RunState }
  | { readonly verdict: 'missing' };

/** `cancelled`: extended as well, but somebody wants the run to stop. */
export type HeartbeatReply = 'extended' | 'cancelled' | 'stale';

/** All that is recorded of the instants in `[from, to)`; the ranges reach beyond it. */
export interface Account {
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
  /** Of instants up to here some may be forgotten: what is missing there says nothing. `null`: nothing is forgotten. */
  readonly forgotten: number | null;
}

export type ClaimReply =
  | { readonly verdict: 'claimed'; readonly runId: string }
  | { readonly verdict: 'skipped'; readonly reason: 'overlap' }
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
}

export interface BeginRequest {
  readonly runId: string;
  readonly nonce: string;
  readonly worker: string;
  /** Length of the run lease. */
  readonly ttlMs: number;
  readonly maxAttempts: number;
}

/** The proof an attempt shows with every call: only the current one changes its run. */
export interface AttemptRef {
  readonly runId: string;
  readonly fence: Fence;
  readonly nonce: string;
}

export type BeginReply =
  | { readonly verdict: 'begun'; readonly fence: Fence; readonly attempt: number; readonly run: Run }
  /** Another attempt is alive, or another run of the cron is; look again in `waitMs`. */
  | { readonly verdict: 'busy'; readonly waitMs: number }
  | { readonly verdict: 'not-due'; readonly waitMs: number }
  | { readonly verdict: 'terminal'; readonly state: RunState }
  | { readonly verdict: 'missing' };

export type BeginEffectReply =
  /** `unknown`: an earlier attempt began it too and never said how it ended. */
  | { readonly verdict: 'go'; readonly unknown: boolean }
  /** Already done, by this or an earlier attempt; `result` is its recorded JSON. */
  | { readonly verdict: 'done'; readonly result: string }
  | { readonly verdict: 'stale' };

/**
 * `late`: the attempt is stale, and its *done* is kept as a fact all the same, because it was once allowed to begin.
 * `known`: another attempt's done was recorded before, and stands.
 */
export type FinishEffectReply = 'recorded' | 'late' | 'known' | 'stale';

export type AttemptOutcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly error: string }
  /** The handler stopped because it was told to. */
  | { readonly kind: 'cancelled'; readonly error: string }
  | { readonly kind: 'retry'; readonly error: string; readonly delayMs: number };

/**
 * What ran, what is running, what did not run and why. Every implementation passes `test/contracts/ledger.contract.ts`.
 *
 * "Now" is the store's clock. Each call is idempotent on its nonce, and refuses whoever is stale by comparing fences in
 * the store. It rejects when the store could not be asked, and with a `RangeError` for a number that is none; every answer
 * of the store is a value.
 */
export interface Ledger {
  readCron(cron: string): Promise<CronRecord>;
  /** In the order given, in one round trip. */
  readCrons(crons: readonly string[]): Promise<CronRecord[]>;
  claim(request: ClaimRequest): Promise<ClaimReply>;
  /** One claim per cron, all in one step where the store can; never rejects, each has its own outcome. In the order given. */
  claimAll(requests: readonly ClaimRequest[]): Promise<PromiseSettledResult<ClaimReply>[]>;
  /** Accepts a run that somebody asked for: ignores a pause, moves no cursor, respects overlap. */
  trigger(request: TriggerRequest): Promise<TriggerReply>;
  /** Instants that come from now on are `skipped: paused`; running work goes on. Again: the later word counts. */
  pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause>;
  /** The pause that ended by it, or `null`. */
  resume(cron: string, order: OperatorOrder): Promise<Pause | null>;
  /** What waits is cancelled at once; what runs is told, and has `graceMs` to stop. */
  cancel(runId: string, order: OperatorOrder & { readonly graceMs: number }): Promise<CancelReply>;
  /** The newest first. */
  actions(cron: string, limit: number): Promise<OperatorAction[]>;
  /** Notes on a run that waits why it does; the next attempt clears it. Changes nothing else. */
  noteWaiting(runId: string, reason: WaitReason): Promise<void>;
  account(cron: string, from: number, to: number): Promise<Account>;
  /** The queue has taken these: `claimed → enqueued`. A run that went on already is left alone. */
  confirm(runIds: readonly string[]): Promise<void>;
  /** Claimed, never confirmed: what the next holder re-delivers first. At most 100, oldest first. */
  pending(cron: string): Promise<Delivery[]>;
  /**
   * Of each cron at most 100 runs whose delivery or worker is due for a look. In the order given, in few calls where the
   * store can; one that can't be read is rejected alone.
   */
  overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]>;
  /** Numbers another delivery and orphans a run whose lease has expired; `null` when there is nothing to deliver. */
  redeliver(last: Delivery, nonce: string): Promise<Delivery | null>;
  /** @throws {FenceExhaustedError} when the next fence would pass 2^53 − 1 */
  begin(request: BeginRequest): Promise<BeginReply>;
  /** Extends the run lease; `stale` means the attempt is over. Never revives one that has expired. */
  heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply>;
  beginEffect(attempt: AttemptRef, effect: string): Promise<BeginEffectReply>;
  /** Records *done* with its result as JSON. */
  finishEffect(attempt: AttemptRef, effect: string, result: string): Promise<FinishEffectReply>;
  /** The state the run has now, or `null` when the attempt is stale and nothing changed. */
  finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null>;
  readRun(runId: string): Promise<Run | null>;
  /** The newest runs first, skipped occurrences included. */
  runs(cron: string, limit: number): Promise<Run[]>;
  /** The newest recorded skip ranges first. */
  skips(cron: string, limit: number): Promise<SkipRange[]>;
  /** Forgets at most 100 finished runs beyond the newest `keep`; answers how many. The cursor keeps them from coming back. */
  forget(cron: string, keep: number): Promise<number>;
}
