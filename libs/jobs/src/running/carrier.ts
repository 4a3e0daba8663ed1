import type { Clock } from '@fencepost/lease';
import type { Ledger } from '../ledger/ledger.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Ending } from './ending.js';
import type { RetryPolicy } from './retry.js';
import type { RunHandler, RunLog } from './run-context.js';

export interface AttemptDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  /** Identity of this worker process. */
  readonly worker: string;
  /** Length of the run lease. */
  readonly ttlMs: number;
  readonly handlerOf: (cron: string) => CronHandler | undefined;
}

export interface CronHandler {
  readonly handle: RunHandler;
  readonly retry: RetryPolicy;
}

/** One bringing of a run by the queue: where its log and progress go, and whether the queue has given it up. */
export interface Carrier {
  readonly runId: string;
  readonly givenUp: Ending;
  log(level: keyof RunLog, message: string, of: { readonly attempt: number; readonly fence: number }): void;
  progress(value: number | object): Promise<void>;
}

/** What the queue is to do with its job: complete it, fail it, or bring it again later. */
export type Carried =
  | { readonly kind: 'settled' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'later'; readonly waitMs: number };
