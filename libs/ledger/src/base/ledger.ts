import type {
  Account,
  AccountRequest,
  Tally,
  TallyRequest,
  NewestRequest,
  CancelReply,
  CancelRequest,
  ClaimReply,
  ClaimRequest,
  CronRecord,
  Delivery,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
  TriggerReply,
  TriggerRequest,
  OverdueOptions,
  OverdueRun,
  OverdueRuns,
} from './accepting.js';
import type {
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  HeartbeatReply,
  ItemRecord,
  ItemsStep,
} from './attempting.js';
import type { Notification, EffectRecord, Pause, Run, SkipRange, WaitReason } from './run.js';
import type { RunState } from './run-state.js';

export type * from './accepting.js';
export type * from './attempting.js';
export type * from './run.js';

/*
 * What ran, what is running, what did not run and why: four ports, of which each caller takes the narrowest. Every adapter
 * gives all four as one object, and passes `@fencepost/testing/ledger-contract`.
 *
 * "Now" is the store's clock. Each call is idempotent on its nonce, and refuses a stale caller by comparing fences in the
 * store. It rejects when the store could not be asked, and with a `RangeError` for an invalid number; every answer of the
 * store is a value.
 */

/** What the scheduler writes: which occurrences became runs, and which runs must be delivered again. */
export interface OccurrenceLog {
  readCron(cron: string): Promise<CronRecord>;
  /** In the order given, in one round trip. */
  readCrons(crons: readonly string[]): Promise<CronRecord[]>;
  claim(request: ClaimRequest): Promise<ClaimReply>;
  /** One claim per cron, all in one step where the store can; never rejects, each has its own outcome. In the order given. */
  claimAll(requests: readonly ClaimRequest[]): Promise<PromiseSettledResult<ClaimReply>[]>;
  /** The queue has taken these: `claimed → enqueued`. A run that went on already is left alone. */
  confirm(runIds: readonly string[]): Promise<void>;
  /** Claimed, never confirmed: what the next holder re-delivers first. At most 100, oldest first. */
  pending(cron: string): Promise<Delivery[]>;
  /** Of these the crons of which `pending` is to be asked, in any order: few have any. May name others as well. */
  withPending(crons: readonly string[]): Promise<string[]>;
  /**
   * Of these the crons with open runs or pending notifications, in any order: what a look at all held crons begins with, because
   * most are idle. May name others as well.
   */
  withOpenRuns(crons: readonly string[]): Promise<string[]>;
  /**
   * Of each cron at most 100 runs whose delivery or worker is due for a look. In the order given, in few calls where the
   * store can; one that can't be read is rejected alone.
   */
  overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]>;
  /**
   * Open runs that wait for an attempt, retries included: these block successors under every policy but `allow`. At most
   * `limit`, in the order of their ids, so that those of the schedule come first and the oldest of them before the others.
   */
  unstarted(cron: string, limit: number): Promise<OverdueRun[]>;
  /** Numbers another delivery and orphans a run whose lease has expired; `null` when there is nothing to deliver. */
  redeliver(last: Delivery, nonce: string): Promise<Delivery | null>;
  /** Absent where a queue can't share a step with the ledger: another kind of store, a cluster, writes that wait for replicas. */
  readonly claimStep?: ClaimStep | null;
}

/**
 * `claimAll` for a queue on the same Redis server, which makes it part of a script of its own: the run of an accepted claim is
 * enqueued and its job added in one step, so no crash can come in between and there is nothing to confirm.
 */
export interface ClaimStep {
  /** Lua of a function of KEYS and ARGV. It returns the replies, and the ids of the runs that this call accepted. */
  readonly lua: string;
  /** As the ledger's own, in the calls that `send` makes. */
  claimAll(requests: readonly ClaimRequest[], send: SendClaims): Promise<PromiseSettledResult<ClaimReply>[]>;
}

/** Sends a script that calls that function with these keys and arguments, and returns its replies. */
export type SendClaims = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/** What a worker writes: the attempts of a run, and the effects of an attempt. */
export interface AttemptLog {
  /** Notes on a run that waits why it does, or that the reason is gone (`null`); the next attempt clears it. Changes nothing else. */
  noteWaiting(runId: string, reason: WaitReason | null): Promise<void>;
  /** @throws {FenceExhaustedError} when the next fence would pass 2^53 − 1 */
  begin(request: BeginRequest): Promise<BeginReply>;
  /** Extends the run lease; `stale` means the attempt is over. Never revives one that has expired. */
  heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply>;
  beginEffect(attempt: AttemptRef, request: EffectRequest): Promise<BeginEffectReply>;
  /** A *done* is kept also from a stale attempt that was once allowed to begin; a *failed* counts only from the current one. */
  finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply>;
  /** A *done* is never overwritten, and is kept from a stale attempt as that of an effect is; nothing else is then. */
  advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'>;
  /** The state the run has now, or `null` when the attempt is stale and nothing changed. */
  finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null>;
  /** Absent where a queue can't share a step with the ledger: another kind of store, a cluster, writes that wait for replicas. */
  readonly steps?: AttemptSteps | null;
}

/**
 * `begin` and `finish` for a queue on the same Redis server, which makes them parts of its own scripts: a worker's slot then ends
 * a run, completes its job, takes the next one and begins it in one step, and no crash can come in between.
 */
export interface AttemptSteps {
  /** Lua that defines `finish_runs` and `begin_runs`, to be put before a script. */
  readonly lua: string;
  /** The key under which the ledger counts fences. */
  readonly fences: string;
  /** Head, keep, turn and sweep, as the Lua expects them in `about`. */
  readonly about: readonly (string | number)[];
  /** Where workers note what their begins ask for, see `BeginPlans`. */
  plansKey(digest: string): string;
  /** @throws {FenceExhaustedError} and for a broken record */
  decodeBegin(reply: unknown, request: Pick<BeginRequest, 'runId' | 'worker'>): BeginReply;
  /** @throws for a broken record */
  decodeFinish(reply: unknown, runId: string): RunState | null;
}

/** What an operator orders. What is in force names who ordered it; who ordered what, and why, is in the audit trail. */
export interface OperatorLog {
  /** Accepts a run that somebody asked for: ignores a pause, moves no cursor, respects overlap. */
  trigger(request: TriggerRequest): Promise<TriggerReply>;
  /** Instants that come from now on are `skipped: paused`; running work goes on. Again: the later word counts. */
  pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause>;
  /** The pause that ended by it, or `null`. */
  resume(cron: string): Promise<Pause | null>;
  /** What waits is cancelled at once; what runs is told, and has `graceMs` to stop. */
  cancel(runId: string, order: CancelRequest): Promise<CancelReply>;
  /**
   * An operator's answer about the unresolved effect of an uncertain run. `done` and `not-done` are recorded as the end of the
   * effect, and the run is enqueued for one attempt more than its retry policy allows; `give-up` ends it as failed. An answer
   * about any other effect changes nothing.
   */
  resolve(runId: string, request: ResolveRequest): Promise<ResolveReply>;
}

/** A run, and its effects in the order they were begun. */
export interface RunWithEffects {
  readonly run: Run;
  readonly effects: readonly EffectRecord[];
}

/** What is on record, and how it is forgotten. */
export interface RunHistory {
  readRun(runId: string): Promise<Run | null>;
  /** The same of many runs with their effects, in the order given, in few calls where the store can; without unknown runs. */
  readWithEffects(runIds: readonly string[]): Promise<RunWithEffects[]>;
  /**
   * The latest run of the same cron that succeeded and whose instant comes before that of this one; of one instant, whose id
   * does. `null` where there is none among the `MAX_LOOKED_BACK` runs on record before it, or it isn't on record itself.
   */
  previousSuccess(runId: string): Promise<Run | null>;
  /** Of these crons the runs in one state, which came into it last first, `limit` of each cron at most. */
  runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]>;
  /** The newest runs first, skipped occurrences included. */
  runs(cron: string, limit: number): Promise<Run[]>;
  /** The same of many crons, in the order given, in few calls where the store can; with a range only those with an instant in it. */
  newestRuns(...asked: NewestRequest): Promise<Run[][]>;
  /**
   * How many runs of each cron have an instant no longer ago than a finished run is kept: what `runs` has at length, skipped
   * occurrences included. In the order given, in few calls where the store can.
   */
  countRuns(crons: readonly string[]): Promise<number[]>;
  /** How many run ids of the cron can't be used again although their record may be gone: idempotency keys within their life. */
  countKeys(cron: string): Promise<number>;
  /**
   * Of these the crons that may need a person, in any order: the newest run did not succeed, they are paused without an end, or
   * notifications of theirs were dropped within a day. May name others as well. What an examination of all crons begins with,
   * because most are well.
   */
  notable(crons: readonly string[]): Promise<string[]>;
  /** The newest recorded skip ranges first. */
  skips(cron: string, limit: number): Promise<SkipRange[]>;
  /** The same of many crons, in the order given, in few calls where the store can. */
  newestSkips(crons: readonly string[], limit: number): Promise<SkipRange[][]>;
  /** In the order they were begun. */
  effects(runId: string): Promise<EffectRecord[]>;
  /** Whatever is recorded of the items under this name. */
  items(runId: string, effect: string): Promise<ItemRecord[]>;
  /**
   * What is recorded of the instants in `[from, to)`. With `most` it ends earlier where there are more runs than that: see
   * `more`. The runs of one instant are never divided.
   */
  account(...asked: AccountRequest): Promise<Account>;
  /**
   * What an account has, counted in the store: however many runs there are, the answer is as long as there are buckets. It may
   * end earlier, as an account does.
   */
  tally(cron: string, asked: TallyRequest): Promise<Tally>;
  /** That runs of the cron came into a state somebody asked to be notified of, and nobody has settled yet. The oldest first. */
  notifications(cron: string, limit: number): Promise<Notification[]>;
  /** These were handed on, or nobody wants them: they are not shown again. */
  settleNotifications(cron: string, receipts: readonly string[]): Promise<void>;
  /**
   * Forgets finished runs of each cron beyond its newest `keep`, or older than is kept; at most 500 per cron, and a cron with
   * fewer than `LEDGER_BATCH` has no more. The cursor keeps them from coming back. Answers how many, in the order given; a cron
   * that can't be read is rejected alone.
   */
  forgetAll(crons: readonly string[], keep: number): Promise<PromiseSettledResult<number>[]>;
}

export interface Ledger extends OccurrenceLog, AttemptLog, OperatorLog, RunHistory {}
