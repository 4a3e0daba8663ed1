import { EFFECTIVE_AFTER_MS } from '@fencepost/ledger/catalog';
import { HEARTBEAT_MS, MEMBER_GONE_MS, OVERDUE_MS, SUSPECT_AFTER_MS } from './membership.js';

/** How often a pod listens, and how long it believes in what it heard. Milliseconds. */
export interface PodTiming {
  readonly heartbeatMs: number;
  readonly memberGoneMs: number;
  readonly overdueMs: number;
  readonly suspectAfterMs: number;
  /** Who ranks first among those that are heard goes first; overdue for this long, a cron is anybody's to look after. */
  readonly abandonedAfterMs: number;
  /** Long enough for another pod to notice that a cron is waiting; not for ever, because the outage may be everybody's. */
  readonly leftToOthersMs: number;
  /** The wall clock may be stepped while the timer of the next instant waits, so it never waits longer than this. */
  readonly maxWaitMs: number;
  /** After a store or the queue did not answer: short at first, because an occurrence is waiting, then doubled. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** What the catalog tells stays true for so long: a change is effective only after it. The catalog has the same. */
  readonly effectiveAfterMs: number;
}

const ABANDONED_AFTER_MS = 2_000;

/** All of it in the proportions of a heartbeat of one second: what a pod may believe follows from how often it listens. */
export function podTiming(heartbeatMs: number): PodTiming {
  const scaled = (ms: number) => (ms * heartbeatMs) / HEARTBEAT_MS;
  return {
    heartbeatMs,
    memberGoneMs: scaled(MEMBER_GONE_MS),
    overdueMs: scaled(OVERDUE_MS),
    suspectAfterMs: scaled(SUSPECT_AFTER_MS),
    abandonedAfterMs: scaled(ABANDONED_AFTER_MS),
    leftToOthersMs: scaled(ABANDONED_AFTER_MS + 2 * HEARTBEAT_MS),
    maxWaitMs: scaled(30_000),
    retryMs: scaled(250),
    maxRetryMs: scaled(1_000),
    effectiveAfterMs: scaled(EFFECTIVE_AFTER_MS),
  };
}

export const POD_TIMING: PodTiming = podTiming(HEARTBEAT_MS);
