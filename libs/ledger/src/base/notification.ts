import type { UnresolvedEffect } from './run.js';

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
