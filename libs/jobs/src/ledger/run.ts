import type { Fence } from '@fencepost/lease';
import type { RunState } from './run-state.js';

/** Why a run exists. */
export type RunReason = 'schedule' | 'catch-up';

/** Why a scheduled instant didn't run. */
export type SkipReason = 'overlap' | 'misfire' | 'merged';

/** What a new occurrence does while the previous run is still going. */
export type OverlapPolicy = 'skip' | 'allow';

/** The instants that one catch-up run stands for, beside its own. */
export interface MissedRange {
  readonly count: number;
  /** Epoch milliseconds of the first and the last of them. */
  readonly from: number;
  readonly to: number;
}

/**
 * Instants that did not run: all in `(after, through]`, epoch milliseconds.
 *
 * An interval and not a list, so that a week without pods leaves one row of a cron that fires each second, not 600,000.
 */
export interface SkipRange {
  readonly after: number;
  readonly through: number;
  readonly reason: SkipReason;
}

/** The record of one occurrence. Times are epoch milliseconds of the store's clock, `null` where not reached yet. */
export interface Run {
  readonly id: string;
  readonly cron: string;
  readonly scheduledAt: number;
  /** The nominal instant plus spread. */
  readonly dueAt: number;
  readonly state: RunState;
  readonly reason: RunReason;
  readonly skipped: SkipReason | null;
  readonly missed: MissedRange | null;
  readonly generation: number;
  /** The scheduler's fence and identity it was claimed under. */
  readonly claimFence: Fence;
  readonly claimedBy: string;
  readonly claimedAt: number;
  readonly enqueuedAt: number | null;
  /** How often it was handed to BullMQ, from 1. */
  readonly delivery: number;
  /** Tries so far; 0 before the first. */
  readonly attempt: number;
  /** The fence of the latest attempt. */
  readonly fence: Fence | null;
  readonly worker: string | null;
  /** When the first and when the latest attempt began. */
  readonly startedAt: number | null;
  readonly attemptedAt: number | null;
  readonly notBefore: number | null;
  readonly finishedAt: number | null;
  readonly error: string | null;
}
