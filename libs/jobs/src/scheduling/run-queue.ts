import type { Delivery } from '../ledger/ledger.js';

/** A delivery on its way; a `low` one waits behind all others, as those of a backfill do. */
export type QueuedDelivery = Delivery & { readonly priority?: 'low' };

/** Carries deliveries to the workers. It may lose one and bring one twice: the ledger decides what a delivery means. */
export interface RunQueue {
  /** Takes all of them or rejects. The same delivery again changes nothing. */
  enqueue(deliveries: readonly QueuedDelivery[]): Promise<void>;
  /** Whether each delivery still waits for a worker or is with one. In the order given. */
  holds(deliveries: readonly Delivery[]): Promise<boolean[]>;
}
