import type { Fence } from '@fencepost/lease';
import type { RunState } from './run-state.js';

/** Why a run exists. */
export type RunReason = 'schedule' | 'catch-up' | 'manual' | 'backfill';

/**
 * Why a scheduled instant didn't run. `overlap`: as many runs as may be open at once were. `no-capable-worker`: the same, and
 * one of them waited because no live worker had its handler.
 */
export type SkipReason = BlockedReason | 'misfire' | 'merged' | 'paused' | 'superseded';

/** Why a run was skipped that found others in its way. */
export type BlockedReason = 'overlap' | WaitReason;

/**
 * What a new occurrence does while as many runs as may be open at once (`maxConcurrency`) still are. `skip`: it doesn't run.
 * `queue-one`: it waits, and one that waited already is `superseded`. `queue-all`: it waits in line, at most
 * {@link MAX_QUEUE_LENGTH} do. `replace`: older ones are cancelled, and fenced out after their grace. `allow`: it runs.
 */
export type OverlapPolicy = 'skip' | 'queue-one' | 'queue-all' | 'replace' | 'allow';

export const MAX_QUEUE_LENGTH = 100;

/** Of UTF-8. A result tells what came of a run; whatever is larger belongs in a store of its own. */
export const MAX_RESULT_BYTES = 16_384;

/** With `replace`: how long the older run may go on after it was cancelled. */
export const DEFAULT_CANCEL_GRACE_MS = 30_000;

/** Why a run that was enqueued has not begun. */
export type WaitReason = 'no-capable-worker';

/** An operator's word that a cron doesn't run for the time being. Times are epoch milliseconds of the store. */
export interface Pause {
  readonly since: number;
  /** `null`: until it is resumed. */
  readonly until: number | null;
  readonly by: string;
  readonly reason: string;
}

/** Why nobody but a person can say how an effect ended. */
export type UnknownReason =
  /** Begun, but its worker died. */
  | 'lost'
  /** It was begun, and did not come back in time. */
  | 'timeout'
  /** It was begun with another payload under the same idempotency key. */
  | 'payload-changed'
  /** It was begun so long ago that its provider may have forgotten the idempotency key. */
  | 'key-expired';

/** What a run waits for a person to answer. */
export interface UnresolvedEffect {
  readonly effect: string;
  /** The key of the item, where the effect is one item of many. */
  readonly item: string | null;
  readonly unknownReason: UnknownReason;
  /** When the effect was first begun, epoch milliseconds of the store. */
  readonly since: number;
}

/** What a person answers: it happened and brought this result (JSON), it did not happen, or the run is not worth it. */
export type Answer =
  | { readonly verdict: 'done'; readonly result: string }
  | { readonly verdict: 'not-done' }
  | { readonly verdict: 'give-up' };

/** What is recorded of one effect of a run. Times are epoch milliseconds of the store's clock. */
export interface EffectRecord {
  readonly name: string;
  /** `begun` and not ended is unknown, unless the attempt that began it still goes on. */
  readonly state: 'begun' | 'done' | 'failed';
  /** When it was begun, the first time since it last failed. */
  readonly since: number;
  readonly finishedAt: number | null;
  /** The fence of the attempt that ended it, else of the one that began it first. */
  readonly fence: Fence;
  /** JSON, once it is done. */
  readonly result: string | null;
  readonly error: string | null;
  readonly payloadHash: string | null;
}

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
  /** JSON of what the handler returned, at most {@link MAX_RESULT_BYTES}; `null` for nothing, and unless it succeeded. */
  readonly result: string | null;
  /** Who asked for it, where somebody did. */
  readonly by: string | null;
  /** JSON, as it goes to the handler. */
  readonly payload: string | null;
  /** Whose handler carries it out; `null`: the cron's own. */
  readonly handler: string | null;
  readonly waiting: WaitReason | null;
  /** BullMQ's: the smaller number goes first, `null` before all numbers. */
  readonly priority: number | null;
  /** While it is `uncertain`. */
  readonly unresolvedEffect: UnresolvedEffect | null;
  /** When it was told to stop, and by when it is fenced out if it doesn't. */
  readonly cancel: { readonly at: number; readonly by: string; readonly until: number } | null;
}

/** States of a run that somebody outside can be notified of. */
export type NotifiedState = 'succeeded' | 'failed' | 'uncertain';

/** That a run has come into a state; written in the same step, and kept until somebody settles it. */
export interface Notification {
  /** What settles it: the store's own text for it. */
  readonly receipt: string;
  readonly runId: string;
  readonly state: NotifiedState;
  /** The attempt after which it came into the state. */
  readonly attempt: number;
  /** When, epoch milliseconds of the store. */
  readonly at: number;
  /** How long before that the attempt had begun, by the store's clock. */
  readonly tookMs: number;
  readonly error: string | null;
  /** With `uncertain`. */
  readonly unresolvedEffect: UnresolvedEffect | null;
  /** As the attempt that asked for it gave it to `begin`. */
  readonly notify: string;
}

/** Notifications that were dropped because nobody settled them. */
export interface DroppedNotifications {
  readonly count: number;
  /** When the latest one was dropped, epoch milliseconds of the store. */
  readonly lastAt: number;
}

/** Kept of a cron; the oldest are dropped beyond. As `note-notification.lua` and `note-notification.sql` have it. */
export const MAX_NOTIFICATIONS = 1_000;
