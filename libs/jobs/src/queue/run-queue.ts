import type { Delivery, OccurrenceLog } from '@fencepost/ledger';
import type { TraceCarrier } from '../telemetry/tracing.js';

/** BullMQ's own bound: it packs the number into the score of a sorted set. What has it waits behind everything else. */
export const MAX_PRIORITY = 2 ** 21 - 1;

/** A delivery on its way. */
export interface QueuedDelivery extends Delivery {
  /** It waits in the queue for so long, milliseconds, and not at a worker. */
  readonly delayMs?: number;
  /** What it comes from, where that is traced. */
  readonly trace?: TraceCarrier;
}

/** `active`: a worker has taken it, and may be gone; `null`: it will reach no worker. */
export type Place = 'waiting' | 'active' | null;

/** What a ledger on the same server gives for claims that enqueue. */
export type ClaimStep = NonNullable<OccurrenceLog['claimStep']>;

/** Carries deliveries to the workers. It may lose one and bring one twice: the ledger decides what a delivery means. */
export interface RunQueue {
  /** Takes all of them or rejects. The same delivery again changes nothing. */
  enqueue(deliveries: readonly QueuedDelivery[]): Promise<void>;
  /** Where each delivery is, in the order given. */
  holds(deliveries: readonly Delivery[]): Promise<Place[]>;
  /** Absent, or `null`, where claiming and enqueuing are two steps. */
  claimsWith?(step: ClaimStep): Claims | null;
}

/** Claims, and enqueues the runs of accepted claims in the same step. Rejects where it is unknown to which queues runs belong. */
export type Claims = Pick<OccurrenceLog, 'claimAll'>;
