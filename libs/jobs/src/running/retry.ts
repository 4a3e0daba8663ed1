import { TransactionMisusedError } from '@fencepost/ledger';
import { FinalError } from './errors.js';

/** Attempts per run, and the delays in between. */
export interface RetryPolicy {
  /** Attempts in all, from 1. */
  readonly attempts: number;
  /** Before the second attempt, milliseconds; doubles with each attempt. */
  readonly delayMs: number;
  readonly maxDelayMs: number;
}

/**
 * The delay after the failed `attempt`: exponential, capped, and jittered between half and all of it, so that runs which
 * failed together don't come back together.
 */
export function retryDelay(policy: RetryPolicy, attempt: number, random: () => number): number {
  const full = Math.min(policy.delayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  return Math.round(full * (0.5 + random() / 2));
}

/**
 * Whether a retry is pointless: the error is unrecoverable (BullMQ's class of that name is recognised), or
 * the handler or its payload is at fault, and every further attempt would fail in the same way.
 */
export function isUnrecoverable(error: unknown): boolean {
  if (error instanceof FinalError || error instanceof TransactionMisusedError) return true;
  return error instanceof Error && error.name === 'UnrecoverableError';
}
