import { EFFECTIVE_AFTER_MS } from '@fencepost/ledger/catalog';
import {
  ALONE_AFTER_MS,
  HEARTBEAT_MS,
  MEMBER_GONE_MS,
  OVERDUE_MS,
  REPLY_MS,
  SUSPECT_AFTER_MS,
  WATCH_MS,
} from './membership.js';

/** How often a pod sends heartbeats, and how long their replies are valid. Milliseconds. */
export interface PodTiming {
  readonly heartbeatMs: number;
  /** A pod with nothing due soon asks for a reply this often, and only says in between that it is alive, unless it is alone. */
  readonly replyMs: number;
  /** Between two looks of a pod that watches others, at least. */
  readonly watchMs: number;
  readonly memberGoneMs: number;
  /** A process that has heard no other for this long is alone. */
  readonly aloneAfterMs: number;
  readonly overdueMs: number;
  readonly suspectAfterMs: number;
  /** The member that ranks first takes over an overdue cron; after this long, any pod may. */
  readonly abandonedAfterMs: number;
  /** Long enough for another pod to take over a cron that failed here; bounded, because the outage may affect all pods. */
  readonly leftToOthersMs: number;
  /** The wall clock may be stepped while a timer waits, so no timer waits longer than this. */
  readonly maxWaitMs: number;
  /** After a failure of store or queue: short at first, because an occurrence is due, then doubled. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** A reading of the catalog is valid for this long: changes take effect only later. The catalog has the same constant. */
  readonly effectiveAfterMs: number;
}

const ABANDONED_AFTER_MS = 2_000;

export const POD_TIMING: PodTiming = {
  heartbeatMs: HEARTBEAT_MS,
  replyMs: REPLY_MS,
  watchMs: WATCH_MS,
  memberGoneMs: MEMBER_GONE_MS,
  aloneAfterMs: ALONE_AFTER_MS,
  overdueMs: OVERDUE_MS,
  suspectAfterMs: SUSPECT_AFTER_MS,
  abandonedAfterMs: ABANDONED_AFTER_MS,
  leftToOthersMs: ABANDONED_AFTER_MS + 2 * HEARTBEAT_MS,
  maxWaitMs: 30_000,
  retryMs: 250,
  maxRetryMs: 1_000,
  effectiveAfterMs: EFFECTIVE_AFTER_MS,
};
