import type { Clock } from '@fencepost/lease';
import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { AttemptLog, RunHistory } from '@fencepost/ledger';
import { cronOfRun, isTerminal, type Run, type RunState } from '@fencepost/ledger/run';
import { isProgramError, reportStoreFailure, type FailedOperation } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { LazyAbort } from './lazy-abort.js';
import type { BegunAhead, RunEnd } from '../queue/run-steps.js';
import type { HeartbeatTimer } from './heartbeat.js';
import type { LongRuns } from './long-runs.js';
import type { RunHandler, RunLog } from './run-context.js';

/** Attempts per run, and the delays in between. */
export interface RetryPolicy {
  /** Attempts in all, from 1. */
  readonly attempts: number;
  /** Before the second attempt, milliseconds; doubles with each attempt. */
  readonly delayMs: number;
  readonly maxDelayMs: number;
}

export interface AttemptDeps {
  readonly ledger: AttemptLog & Pick<RunHistory, 'readRun' | 'previousSuccess' | 'items'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  /** Identity of this worker process. */
  readonly worker: string;
  /** Length of the run lease. */
  readonly ttlMs: number;
  /** The shared timer for heartbeats, every quarter of `ttlMs`; default: a timer per attempt. */
  readonly heartbeatTimer?: HeartbeatTimer;
  readonly tracing?: Tracing | null;
  /** Hears of attempts that take long, and is loaded for the first of them; default: nobody does. */
  readonly longRuns?: () => Promise<LongRuns>;
  readonly handlerOf: (cron: string) => CronHandler | undefined;
  /** Ends of runs that cause a notification, as `BeginRequest.notify`; default none. */
  readonly notifyOf?: (cron: string) => string;
}

export interface CronHandler {
  readonly handle: RunHandler;
  readonly retry: RetryPolicy;
  /** What a duplicate costs; default `efficiency`. */
  readonly criticality?: Criticality;
  /** An attempt that takes longer is aborted and fails; default no limit. Milliseconds. */
  readonly timeoutMs?: number;
  /** Whether it needs a ledger in PostgreSQL; default `false`. */
  readonly transactions?: boolean;
  readonly limits?: Limits;
  /** Default `default`. */
  readonly pool?: string;
  /** Checks the payload of the run and returns what the handler gets. @throws an error that fails the run for good */
  readonly readPayload?: (payload: unknown) => unknown;
}

/** Limits on concurrent runs and on runs per time. */
export interface Limits {
  /** Runs whose payload gives the same key: at most `perKey` of them at once, over all workers. */
  readonly key?: (payload: unknown) => string;
  /** With `key`; default 1. */
  readonly perKey?: number;
  /** At most `max` runs begin in any `perMs` milliseconds, over all workers. */
  readonly rate?: { readonly max: number; readonly perMs: number };
}

/** One hand-over of a run by the queue: its log, its progress, and whether the queue has given it up. */
export interface Delivery {
  readonly runId: string;
  readonly givenUp: LazyAbort;
  log(level: keyof RunLog, message: string, of: { readonly attempt: number; readonly fence: number }): void;
  progress(value: number | object): Promise<void>;
  /** Hands the run on to where a worker has its handler; `false` when it belongs to no other queue. Absent: there is one queue. */
  pass?(): Promise<boolean>;
  /** The begin that came with the delivery. */
  readonly begun?: BegunAhead | undefined;
  /** Ends the run as succeeded together with the delivery; `null` instead of a promise if the two can't go together. */
  succeed?(end: RunEnd): Promise<RunState | null> | null;
}

/** What the queue does with the job: complete it, fail it, or deliver it again later. */
export type Disposition =
  | { readonly kind: 'settled' }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The run is in another queue now, and the job needless. */
  | { readonly kind: 'passed' }
  | { readonly kind: 'later'; readonly waitMs: number };

/** A delivery comes again this long after a store failed. */
const STORE_FAILED_MS = 1_000;

/** The same after a bug, which would recur soon. */
const PROGRAM_ERROR_MS = 60_000;

interface Teller {
  readonly telemetry: Telemetry;
}

/** Nothing is left to do for this delivery. */
export function needless({ telemetry }: Teller, runId: string, state: RunState | 'missing'): Disposition {
  telemetry.emit('attempt.needless', { cron: cronOfRun(runId), runId, state });
  return { kind: 'settled' };
}

type FailedOnRun = FailedOperation & { readonly runId: string };

/** The outcome is unknown. The delivery is kept: a failed one would only come back at the next sweep. */
export function afterFailure({ telemetry }: Teller, failed: FailedOnRun, error: unknown): Disposition {
  reportStoreFailure(telemetry, { cron: cronOfRun(failed.runId), ...failed }, error);
  return { kind: 'later', waitMs: isProgramError(error) ? PROGRAM_ERROR_MS : STORE_FAILED_MS };
}

/** Whether the run needs no further attempt. */
export function isOver({ state }: Run): boolean {
  return isTerminal(state) || state === 'uncertain';
}
