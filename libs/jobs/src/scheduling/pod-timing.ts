import { EFFECTIVE_AFTER_MS } from '@fencepost/ledger/catalog';
import { BEAT_MS, MEMBER_GONE_MS, OVERDUE_MS, SILENT_MS } from './presence.js';

/** How often a pod listens, and how long it believes in what it heard. Milliseconds. */
export interface PodTiming {
  readonly beatMs: number;
  readonly memberGoneMs: number;
  readonly overdueMs: number;
  readonly silentMs: number;
  /** Who ranks first among those that are heard goes first; overdue for this long, a cron is anybody's to look after. */
  readonly forsakenMs: number;
  /** Long enough for another pod to notice that a cron is waiting; not for ever, because the outage may be everybody's. */
  readonly leftToOthersMs: number;
  /** The wall clock may be stepped while the timer of the next instant waits, so it never waits longer than this. */
  readonly longestWaitMs: number;
  /** After a store or the queue did not answer: short at first, because an occurrence is waiting, then doubled. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** What the catalog tells stays true for so long: a change is effective only after it. The catalog has the same. */
  readonly effectiveAfterMs: number;
}

const FORSAKEN_MS = 2_000;

/** All of it in the proportions of a beat of one second: what a pod may believe follows from how often it listens. */
export function podTiming(beatMs: number): PodTiming {
  const scaled = (ms: number) => (ms * beatMs) / BEAT_MS;
  return {
    beatMs,
    memberGoneMs: scaled(MEMBER_GONE_MS),
    overdueMs: scaled(OVERDUE_MS),
    silentMs: scaled(SILENT_MS),
    forsakenMs: scaled(FORSAKEN_MS),
    leftToOthersMs: scaled(FORSAKEN_MS + 2 * BEAT_MS),
    longestWaitMs: scaled(30_000),
    retryMs: scaled(250),
    longestRetryMs: scaled(1_000),
    effectiveAfterMs: scaled(EFFECTIVE_AFTER_MS),
  };
}

export const POD_TIMING: PodTiming = podTiming(BEAT_MS);
