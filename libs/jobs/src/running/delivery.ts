import type { Clock } from '@fencepost/lease';
import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { AttemptLog, RunHistory } from '@fencepost/ledger';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { LazyAbort } from './lazy-abort.js';
import type { HeartbeatTimer } from './heartbeat.js';
import type { RetryPolicy } from './retry.js';
import type { RunHandler, RunLog } from './run-context.js';

export interface AttemptDeps {
  readonly ledger: AttemptLog & Pick<RunHistory, 'readRun' | 'items'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  /** Identity of this worker process. */
  readonly worker: string;
  /** Length of the run lease. */
  readonly ttlMs: number;
  /** When the attempts of this process beat, every quarter of `ttlMs`; each for itself where there is none. */
  readonly heartbeatTimer?: HeartbeatTimer;
  readonly tracing?: Tracing | null;
  readonly handlerOf: (cron: string) => CronHandler | undefined;
  /** Of which ends of its runs somebody is to be notified, as `BeginRequest.notify`; of none where it isn't said. */
  readonly notifyOf?: (cron: string) => string;
}

export interface CronHandler {
  readonly handle: RunHandler;
  readonly retry: RetryPolicy;
  /** What a duplicate costs; `efficiency` where it isn't said. */
  readonly criticality?: Criticality;
  /** An attempt that takes longer is told to stop, and fails; no limit where it isn't said. Milliseconds. */
  readonly timeoutMs?: number;
  readonly limits?: Limits;
  /** Checks what the run was given, and returns what the handler gets. @throws what makes the run fail for good */
  readonly readPayload?: (payload: unknown) => unknown;
}

/** How much of one job may go on at once, or in a time. */
export interface Limits {
  /** Runs whose payload gives the same key: at most `perKey` of them at once, over all workers. */
  readonly key?: (payload: unknown) => string;
  /** With `key`; 1 where it isn't said. */
  readonly perKey?: number;
  /** At most `max` runs begin in any `perMs` milliseconds, over all workers. */
  readonly rate?: { readonly max: number; readonly perMs: number };
}

/** One bringing of a run by the queue: where its log and progress go, and whether the queue has given it up. */
export interface Delivery {
  readonly runId: string;
  readonly givenUp: LazyAbort;
  log(level: keyof RunLog, message: string, of: { readonly attempt: number; readonly fence: number }): void;
  progress(value: number | object): Promise<void>;
}

/** What the queue is to do with its job: complete it, fail it, or bring it again later. */
export type Disposition =
  | { readonly kind: 'settled' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'later'; readonly waitMs: number };
