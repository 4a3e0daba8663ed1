import type { Fence } from '@fencepost/lease';
import type { RunReason } from '@fencepost/ledger/run';
import type { EffectContext } from './effect-context.js';
import type { EffectOptions } from './effect-options.js';
import type { ForEachCounts, ForEachOptions, ItemAct } from './for-each-options.js';
import type { TransactionOptions, TransactionWork } from './transaction.js';

export type { EffectContext } from './effect-context.js';

/** Writes to the run's own log, shown with its job in Bull Board. A line that can't be written is no reason to fail. */
export interface RunLog {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** What a handler receives: the run it carries out, and the means to do it safely. */
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
  /** The run's id. An effect has one of its own. */
  readonly idempotencyKey: string;
  /** What the cron's definition, or whoever asked for the run, gave along; `null` where nobody did. */
  readonly payload: unknown;
  /**
   * Aborts when the attempt may not go on: its run lease is lost, the worker shuts down, it takes longer than its job may
   * (`AttemptTimeoutError`), or the run was cancelled (`RunCancelledError`, code `RUN_CANCELLED`). Everything the handler
   * records after that is refused anyway; the signal lets it stop early. A handler that throws after a cancellation ends as cancelled; one that returns has succeeded.
   */
  readonly signal: AbortSignal;
  readonly log: RunLog;
  /** Percent, or anything JSON, shown with the job in Bull Board. Never rejects: it is no reason to fail. */
  readonly progress: (value: number | object) => Promise<void>;
  /**
   * Carries out a side effect, and remembers its result: effectively once where the system behind it honours the fence or
   * the idempotency key, at least once otherwise, and its outcome is never guessed.
   *
   * The ledger is asked first: when the effect is recorded as done, by this attempt or an earlier one, `act` isn't called
   * and the recorded result is returned. What `act` throws says that it has not happened, and a later attempt begins it
   * anew. When nobody can know whether it has happened, `options.ifUnknown` says what comes: its attempt was lost, it took
   * longer than `options.timeout`, it threw after the signal aborted, it threw `EffectUnknownError`, or what a connection
   * throws that breaks or falls silent after the request (`ECONNRESET`, `TimeoutError`, …, also as a cause). One that is to be
   * asked about ends the attempt as uncertain, whatever the handler makes of the error, and no effect begins in it any more.
   *
   * The result has to survive JSON and is returned as JSON makes it; `undefined` comes back as `null`. Effects may go on
   * beside one another. One inside another is recorded by itself: when nobody knows of the inner one and its error is let
   * pass, nobody knows of the outer one either.
   * @throws {EffectNameError} for an empty or overlong name, or one used twice in this attempt
   * @throws {EffectOptionError} for an option that can't be; nothing is begun
   * @throws {EffectResultError} for a result that JSON or the schema can't take; the effect has happened and isn't recorded
   * @throws {EffectPayloadError} when it is done, and was done with another payload
   * @throws {EffectUnknownError} when nobody knows whether it has happened, and the next attempt is to find out or repeat it
   * @throws {EffectUnresolvedError} when a person has to say; let it pass
   * @throws {StaleFenceError} when this attempt is no longer the current one; let it pass
   */
  readonly effect: <T, R = T>(
    name: string,
    act: (context: EffectContext) => Promise<T> | T,
    options?: EffectOptions<T, R>,
  ) => Promise<R>;
  /**
   * Writes rows of the ledger's own PostgreSQL database exactly once: `work` gets the connection of an open transaction, and
   * its rows, the record that it is done and the comparison of the fence commit together or not at all. What it returns is
   * remembered as the result of an effect is. What it throws rolls all back.
   * @throws {TransactionUnavailableError} when the ledger is not in PostgreSQL
   * @throws {EffectNameError} {EffectOptionError} {EffectPayloadError} {EffectResultError} as an effect; nothing is written then
   * @throws {StaleFenceError} when this attempt is no longer the current one: everything was rolled back
   */
  readonly transaction: <T>(work: TransactionWork<T>, options?: TransactionOptions) => Promise<T>;
  /**
   * Carries out many items, and remembers which are done: a later attempt continues with those that are not. Each is an
   * effect of its own, with the key `<run id>/<name>/<key>`, but they are recorded batch by batch, and bring no result.
   *
   * One that throws is recorded as failed, and the others go on. One of an earlier attempt whose outcome nobody knows
   * follows `options.ifUnknown`; the others go on before somebody is asked. One that does not come back in time, and is to
   * be asked about, ends it with its batch. When the signal aborts nothing more begins, and what has ended is recorded.
   * @param items read one by one, so that they can be more than fit in memory; their keys are kept
   * @param keyOf the identity of an item in every attempt: a text of 1 to 200 characters, once among all items
   * @throws {ForEachError} when items have failed; let it pass, and the next attempt carries out those
   * @throws {ForEachKeyError} for a key that can't be, or comes twice
   * @throws {EffectNameError} {EffectOptionError} {EffectUnresolvedError} {StaleFenceError} as an effect
   */
  readonly forEach: <T>(
    items: Iterable<T> | AsyncIterable<T>,
    keyOf: (item: T) => string,
    ...work: [act: ItemAct<T>, options?: ForEachOptions]
  ) => Promise<ForEachCounts>;
}

/** A method decorated with `@SingletonCron`. What it returns is ignored. */
export type RunHandler = (run: RunContext) => unknown;
