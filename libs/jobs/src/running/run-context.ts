import type { Fence } from '@fencepost/lease';
import type { RunReason } from '../ledger/run.js';

/** What an effect is given to hand on to the system it changes. */
export interface EffectContext {
  /** The run's current fence: a sink that keeps the largest one it has seen can refuse a stale writer. */
  readonly fence: Fence;
  /** `<run id>/<effect name>`, the same in every attempt: a sink that remembers it can refuse a repetition. */
  readonly idempotencyKey: string;
  /** Aborts when the attempt may not go on. */
  readonly signal: AbortSignal;
}

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
  /** From `dueAt` to the beginning of this attempt, milliseconds of the store's clock. */
  readonly lateByMs: number;
  readonly reason: RunReason;
  /** The missed instants that this run stands for, beside its own. */
  readonly missed: { readonly count: number; readonly from: Date; readonly to: Date } | null;
  /** From 1. */
  readonly attempt: number;
  readonly fence: Fence;
  /** The run's id. An effect has one of its own. */
  readonly idempotencyKey: string;
  /** What the cron's definition, or whoever asked for the run, gave along; `null` where nobody did. */
  readonly payload: unknown;
  /**
   * Aborts when the attempt may not go on: its run lease is lost, the worker shuts down, or the run was cancelled
   * (`RunCancelledError`, code `RUN_CANCELLED`). Everything the handler records after that is refused anyway; the signal
   * lets it stop early. A handler that throws after a cancellation ends as cancelled; one that returns has succeeded.
   */
  readonly signal: AbortSignal;
  readonly log: RunLog;
  /** Percent, or anything JSON, shown with the job in Bull Board. Never rejects: it is no reason to fail. */
  readonly progress: (value: number | object) => Promise<void>;
  /**
   * Carries out a side effect once, and remembers its result.
   *
   * The ledger is asked first: when the effect is recorded as done, by this attempt or an earlier one, `act` isn't called
   * and the recorded result is returned. When an earlier attempt began it and never said how it ended, it is carried out
   * again under the same idempotency key. The result has to survive JSON; `undefined` comes back as `null`.
   * @throws {EffectNameError} for an empty or overlong name, or one used twice in this attempt
   * @throws {EffectResultError} for a result that JSON can't carry; the effect has happened and is not recorded
   * @throws {StaleFenceError} when this attempt is no longer the current one; let it pass
   */
  readonly effect: <T>(name: string, act: (context: EffectContext) => Promise<T> | T) => Promise<T>;
}

/** A method decorated with `@SingletonCron`. What it returns is ignored. */
export type RunHandler = (run: RunContext) => unknown;
