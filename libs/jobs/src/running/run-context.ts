import type { Fence } from '@fencepost/lease';
import type { RunReason } from '@fencepost/ledger/run';
import type { EffectContext, EffectOptions, ForEachCounts, ForEachOptions, ItemAct } from './effect-options.js';
import type { BatchWork, ForEachTransactionOptions } from './for-each-transaction.js';
import type { TransactionOptions, TransactionWork } from './transaction.js';

/** Writes to the log of the run, shown with its job in Bull Board. A failure to write a line is ignored. */
export interface RunLog {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** What a handler receives: the run, and the means to execute it safely. */
export interface RunContext {
  /** `<cron>@<scheduledAt in epoch ms>` */
  readonly id: string;
  readonly cron: string;
  /** The nominal instant, and the one at which the run was due. */
  readonly scheduledAt: Date;
  readonly dueAt: Date;
  /** From `dueAt` to the beginning of this attempt, milliseconds of the store's clock; 0 for a manual or backfilled run. */
  readonly lateByMs: number;
  readonly reason: RunReason;
  /** Missed instants that this run also covers. */
  readonly missed: { readonly count: number; readonly from: Date; readonly to: Date } | null;
  /** From 1. */
  readonly attempt: number;
  readonly fence: Fence;
  /** The run id. Each effect has its own key. */
  readonly idempotencyKey: string;
  /** The payload from the definition of the cron, or from the request for the run; `null` if there is none. */
  readonly payload: unknown;
  /**
   * Aborts when the attempt must stop: its run lease is lost, the worker shuts down, it exceeds the timeout of its job
   * (`AttemptTimeoutError`), or the run was cancelled (`RunCancelledError`, code `RUN_CANCELLED`). Everything the handler
   * records after that is refused; the signal lets it stop early. After a cancellation, a handler that throws ends as cancelled,
   * one that returns has succeeded.
   */
  readonly signal: AbortSignal;
  readonly log: RunLog;
  /** Percent, or any JSON, shown with the job in Bull Board. Never rejects. */
  readonly progress: (value: number | object) => Promise<void>;
  /**
   * The latest run of this cron that succeeded and whose instant comes before that of this run, with what its handler returned;
   * `null` if none is on record. Every attempt of a run gets the same answer unless an earlier run has succeeded meanwhile.
   *
   * Asks the ledger when it is called. Looks back over at most 1,000 runs, and finds none that retention has deleted: what must
   * not get lost belongs in a store of your own.
   */
  readonly previous: () => Promise<{
    readonly id: string;
    readonly scheduledAt: Date;
    readonly finishedAt: Date;
    /** `null` if it returned nothing, or nothing that could be kept. */
    readonly result: unknown;
  } | null>;
  /**
   * Executes a side effect and records its result: effectively once if the system behind it honours the fence or
   * the idempotency key, at least once otherwise, and its outcome is never guessed.
   *
   * If the ledger has the effect as done, by this attempt or an earlier one, `act` is not called
   * and the recorded result is returned. If `act` throws, the effect has not happened, and a later attempt begins it
   * again. `options.ifUnknown` decides when the outcome is unknown: its attempt was lost, it took
   * longer than `options.timeout`, it threw after the signal aborted, it threw `EffectUnknownError`, or the error of a
   * connection that broke or timed out after the request (`ECONNRESET`, `TimeoutError`, …, also as a cause). An effect that
   * needs an operator ends the attempt as uncertain, even if the handler catches the error, and no further effect begins.
   *
   * The result must be JSON and is returned as JSON; `undefined` comes back as `null`. Effects may run concurrently.
   * Nested effects are recorded separately: if the outcome of the inner one is unknown and its error is not caught, so is
   * the outcome of the outer one.
   * @throws {EffectNameError} for an empty or overlong name, or one used twice in this attempt
   * @throws {EffectOptionError} for an invalid option; nothing is begun
   * @throws {EffectResultError} for a result that is not JSON or fails the schema; the effect has happened and isn't recorded
   * @throws {EffectPayloadError} if it is done, with another payload
   * @throws {EffectUnknownError} if its outcome is unknown, and the next attempt looks it up or repeats it
   * @throws {EffectUnresolvedError} if it needs an operator; let it pass
   * @throws {StaleFenceError} when this attempt is no longer the current one; let it pass
   */
  readonly effect: <T, R = T>(
    name: string,
    act: (context: EffectContext) => Promise<T> | T,
    options?: EffectOptions<T, R>,
  ) => Promise<R>;
  /**
   * Executes many items and records which are done: a later attempt continues with the others. Each item is an
   * effect with the key `<run id>/<name>/<key>`, but items are recorded batch by batch and without results.
   *
   * An item that throws is recorded as failed, and the others go on. An unknown item of an earlier attempt
   * follows `options.ifUnknown`; the others go on before the run becomes uncertain. An item that times out and needs an
   * operator ends the attempt after its batch. When the signal aborts, nothing more begins and all outcomes are recorded.
   * @param items read one by one, so there may be more than fit in memory; their keys are kept
   * @param keyOf the identity of an item in every attempt: a text of 1 to 200 characters, unique among all items
   * @throws {ForEachError} if items have failed; let it pass, and the next attempt executes them
   * @throws {ForEachKeyError} for an invalid or duplicate key
   * @throws {EffectNameError} {EffectOptionError} {EffectUnresolvedError} {StaleFenceError} as an effect
   */
  readonly forEach: <T>(
    items: Iterable<T> | AsyncIterable<T>,
    keyOf: (item: T) => string,
    ...work: [act: ItemAct<T>, options?: ForEachOptions]
  ) => Promise<ForEachCounts>;
}

/** What a handler with the option `transactions: true` receives; a worker whose ledger is not in PostgreSQL refuses to start. */
export interface TransactionalRunContext extends RunContext {
  /**
   * Writes rows of the ledger's own PostgreSQL database exactly once: `work` gets the connection of an open transaction, and
   * its rows, the record that it is done and the comparison of the fence commit together or not at all. Its result is
   * recorded like that of an effect. If it throws, everything is rolled back.
   * @throws {TransactionUnavailableError} when the ledger is not in PostgreSQL, for a handler without the option
   * @throws {EffectNameError} {EffectOptionError} {EffectPayloadError} {EffectResultError} as an effect; nothing is written then
   * @throws {StaleFenceError} when this attempt is no longer the current one: everything was rolled back
   */
  readonly transaction: <T>(work: TransactionWork<T>, options?: TransactionOptions) => Promise<T>;
  /**
   * Writes rows for many items, exactly once for each: a batch of items shares a transaction, and its rows, the record that
   * its items are done and the comparison of the fence commit together or not at all. A later attempt continues with the
   * items that are not done.
   *
   * A batch whose `work` throws is rolled back, and the others go on. When the signal aborts, no further batch begins.
   * @param items read one by one, so there may be more than fit in memory; their keys are kept
   * @param work writes the rows of all `items` of one batch, on the connection of its open transaction
   * @throws {ForEachError} if batches have failed; let it pass, and the next attempt executes their items
   * @throws {TransactionUnavailableError} {ForEachKeyError} {EffectNameError} {EffectOptionError} {StaleFenceError} as above
   */
  readonly forEachTransaction: <T>(
    items: Iterable<T> | AsyncIterable<T>,
    options: ForEachTransactionOptions<T>,
    work: BatchWork<T>,
  ) => Promise<ForEachCounts>;
}

/**
 * A method decorated with `@SingletonCron` or `@JobHandler`. What it returns is the result of the run, and is kept with it: JSON
 * of at most 16 KiB. Anything else is dropped with a warning; the run has succeeded all the same.
 */
export type RunHandler = (run: TransactionalRunContext) => unknown;
