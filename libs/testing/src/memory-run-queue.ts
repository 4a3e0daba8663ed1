import { systemClock, type Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Delivery } from '@fencepost/ledger';
import type { Disposition, Place, QueuedDelivery, RunQueue } from '@fencepost/jobs/internal';

/** What a worker does with a delivery; a rejection counts as failed, as in BullMQ. */
export type Work = (delivery: Delivery) => Promise<Disposition>;

export interface MemoryRunQueueOptions {
  readonly clock?: Clock;
  /** Left out, deliveries wait. */
  readonly work?: Work;
}

type JobState = 'waiting' | 'active' | 'delayed' | 'completed' | 'failed';

const PLACES: Readonly<Record<JobState, Place>> = {
  ...{ waiting: 'waiting', delayed: 'waiting', active: 'active' },
  ...{ completed: null, failed: null },
};

/** The queue in memory, for tests: hands each delivery to a worker once, and again later when the worker says so. */
export class MemoryRunQueue implements RunQueue {
  /** Everything that was taken, in order, a repetition of the same delivery left out. */
  readonly taken: QueuedDelivery[] = [];
  readonly #jobs = new Map<string, JobState>();
  readonly #delayed = new Set<CancelTimer>();
  readonly #clock: Clock;
  readonly #work: Work | undefined;

  constructor({ clock = systemClock, work }: MemoryRunQueueOptions = {}) {
    this.#clock = clock;
    this.#work = work;
  }

  async enqueue(deliveries: readonly QueuedDelivery[]): Promise<void> {
    for (const delivery of deliveries) {
      if (this.#jobs.has(keyOf(delivery))) continue;
      this.taken.push(delivery);
      this.#jobs.set(keyOf(delivery), 'waiting');
      if (this.#work) void this.#deliver(delivery, this.#work);
    }
  }

  async holds(deliveries: readonly Delivery[]): Promise<Place[]> {
    return deliveries.map((delivery) => PLACES[this.#jobs.get(keyOf(delivery)) ?? 'completed']);
  }

  /** Forgets every job, as a Redis that was flushed. */
  wipe(): void {
    for (const cancel of this.#delayed) cancel();
    this.#delayed.clear();
    this.#jobs.clear();
  }

  async #deliver(delivery: Delivery, work: Work): Promise<void> {
    const key = keyOf(delivery);
    this.#jobs.set(key, 'active');
    const carried = await work(delivery).catch((error: unknown): Disposition => ({ kind: 'failed', error }));
    if (!this.#jobs.has(key)) return;
    if (carried.kind === 'later') return this.#delay(delivery, work, carried.waitMs);
    this.#jobs.set(key, carried.kind === 'settled' ? 'completed' : 'failed');
  }

  #delay(delivery: Delivery, work: Work, waitMs: number): void {
    this.#jobs.set(keyOf(delivery), 'delayed');
    const cancel = this.#clock.after(waitMs, () => {
      this.#delayed.delete(cancel);
      void this.#deliver(delivery, work);
    });
    this.#delayed.add(cancel);
  }
}

function keyOf({ runId, delivery }: Delivery): string {
  return `${runId} ${delivery}`;
}
