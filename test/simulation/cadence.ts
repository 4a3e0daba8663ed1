import type { LedgerTiming } from '@fencepost/ledger';
import { EFFECTIVE_AFTER_MS, TOMBSTONE_MS } from '@fencepost/ledger/catalog';
import { DECLARE_FULLY_MS, POD_GONE_MS, REPORT_MS, SETTLE_MS } from '@fencepost/jobs/internal/declaring';
import type { DeclaringTiming } from '@fencepost/jobs/internal/declaring';
import type { SchedulerPod } from '@fencepost/jobs/internal/scheduling';

type PodTiming = NonNullable<ConstructorParameters<typeof SchedulerPod>[0]['timing']>;

/**
 * All waiting of a deployment, in the proportions of production: a second there is a heartbeat here. Milliseconds. Specs of the
 * packages hold these against their own.
 */
export interface Cadence {
  readonly pod: PodTiming;
  readonly ledger: Partial<LedgerTiming>;
  /** Of the crons' leases, and of the runs'. */
  readonly ttlMs: number;
  readonly runLeaseMs: number;
  readonly sweepEveryMs: number;
  readonly lookAgainMs: number;
  readonly declareEveryMs: number;
  readonly declaring: Required<DeclaringTiming>;
  /** Between two reports of a pod, and after how long without one it counts as gone. */
  readonly reportMs: number;
  readonly podGoneMs: number;
  readonly tombstoneMs: number;
  /** A client that has heard nothing for so long says so. */
  readonly commandTimeoutMs: number;
  /** Between two tries of what a start needs. */
  readonly retryMs: number;
  readonly drainMs: number;
  /** The queue brings nothing sooner than this when it is to bring it later. */
  readonly soonestMs: number;
  /** A job whose worker has not been heard of for so long is brought to another. */
  readonly stalledMs: number;
}

/** As applications have it unless they say otherwise. */
export const REMOVE_AFTER_MS = 300_000;

/** @param removeAfterMs the option of an application, as it would be written there */
export function cadence(heartbeatMs: number, removeAfterMs = REMOVE_AFTER_MS): Cadence {
  const scaled = (ms: number) => (ms * heartbeatMs) / 1_000;
  return {
    pod: {
      heartbeatMs,
      replyMs: scaled(3_000),
      watchMs: scaled(50),
      memberGoneMs: scaled(3_500),
      aloneAfterMs: scaled(12_000),
      overdueMs: scaled(500),
      suspectAfterMs: scaled(1_200),
      abandonedAfterMs: scaled(2_000),
      leftToOthersMs: scaled(4_000),
      maxWaitMs: scaled(30_000),
      retryMs: scaled(250),
      maxRetryMs: scaled(1_000),
      effectiveAfterMs: scaled(EFFECTIVE_AFTER_MS),
    },
    ledger: { recoverMs: scaled(5_000), sweepMs: scaled(30_000) },
    ttlMs: scaled(10_000),
    runLeaseMs: scaled(30_000),
    sweepEveryMs: scaled(5_000),
    lookAgainMs: scaled(10_000),
    declareEveryMs: scaled(5_000),
    declaring: {
      settleMs: scaled(SETTLE_MS),
      removeAfterMs: scaled(removeAfterMs),
      declareFullyMs: scaled(DECLARE_FULLY_MS),
    },
    reportMs: scaled(REPORT_MS),
    podGoneMs: scaled(POD_GONE_MS),
    tombstoneMs: scaled(TOMBSTONE_MS),
    commandTimeoutMs: scaled(1_000),
    retryMs: scaled(1_000),
    drainMs: scaled(10_000),
    soonestMs: scaled(500),
    stalledMs: scaled(15_000),
  };
}
