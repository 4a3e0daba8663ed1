import type { OccurrenceLog } from '@fencepost/ledger';
import type { Membership } from '../membership/membership.js';
import type { QueuedDelivery, RunQueue } from '../queue/run-queue.js';

export interface DeliveryPorts {
  readonly ledger: Pick<OccurrenceLog, 'confirm'>;
  readonly queue: Pick<RunQueue, 'enqueue'>;
  readonly membership: Pick<Membership, 'publishDue'>;
}

/**
 * Hands accepted runs to the queue, and asks the pods to look at the cron.
 *
 * Never rejects. What the ledger has accepted is not lost when the queue is away: it is pending, and the pods deliver it.
 * An error here would make the operator ask again, and get a second run.
 */
export async function deliver(ports: DeliveryPorts, cron: string, runs: Batch): Promise<void> {
  const deliveries = runs.runIds.map((runId): QueuedDelivery => ({ runId, delivery: 1, ...runs.how }));
  await deliverAll(ports, cron, deliveries);
}

/** As {@link deliver}, each in its own way. */
export async function deliverAll(
  { ledger, queue, membership }: DeliveryPorts,
  cron: string,
  deliveries: readonly QueuedDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  try {
    await queue.enqueue(deliveries);
    await ledger.confirm(deliveries.map(({ runId }) => runId));
  } catch {
    // Pending still, or enqueued and not confirmed: a second delivery of the same run changes nothing.
  }
  await askToLook({ membership }, cron);
}

/** Makes the pod that holds the cron look at it now. Never rejects: without this, the pod looks within minutes. */
export async function askToLook({ membership }: Pick<DeliveryPorts, 'membership'>, cron: string): Promise<void> {
  await membership.publishDue(new Map([[cron, 0]])).catch(() => undefined);
}

export interface Batch {
  readonly runIds: readonly string[];
  readonly how?: Pick<QueuedDelivery, 'priority' | 'delayMs'>;
}
