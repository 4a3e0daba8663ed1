import { TransactionMisusedError } from '@fencepost/ledger';
import { FinalError } from './errors.js';

/** How often a run is tried, and how long it waits in between. */
export interface RetryPolicy {
  /** All tries together, from 1. */
  readonly attempts: number;
  /** Before the second try, milliseconds; doubles from try to try. */
  readonly delayMs: number;
  readonly maxDelayMs: number;
}

/**
 * How long to wait after the failed `attempt`: exponential, capped, and between half and all of it by chance, so that runs
 * which failed together don't come back together.
 */
export function retryDelay(policy: RetryPolicy, attempt: number, random: () => number): number {
  const full = Math.min(policy.delayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  return Math.round(full * (0.5 + random() / 2));
}

/**
 * Whether trying again is pointless: the error says so of itself (BullMQ's class of that name is recognised), or
 * the handler or its payload is at fault, and every further try would only meet the same fault.
 */
export function isUnrecoverable(error: unknown): boolean {
  if (error instanceof FinalError || error instanceof TransactionMisusedError) return true;
  return error instanceof Error && error.name === 'UnrecoverableError';
}
