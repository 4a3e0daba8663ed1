import type { Clock } from '@fencepost/lease';
import type { Delivery } from '@fencepost/ledger';
import type { Place, QueuedDelivery, RunQueue } from '@fencepost/jobs/internal';

interface Waiting {
  readonly delivery: QueuedDelivery;
  readonly dueAt: number;
}

/** Runs that wait for a worker, without one: whoever turns the clock takes what is due. No timer is kept. */
export class TestQueue implements RunQueue {
  readonly #known = new Set<string>();
  #waiting: Waiting[] = [];
  readonly #active = new Set<string>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  async enqueue(deliveries: readonly QueuedDelivery[]): Promise<void> {
    for (const delivery of deliveries) {
      if (this.#known.has(keyOf(delivery))) continue;
      this.#known.add(keyOf(delivery));
      this.later(delivery, this.clock.now() + (delivery.delayMs ?? 0));
    }
  }

  async holds(deliveries: readonly Delivery[]): Promise<Place[]> {
    const waiting = new Set(this.#waiting.map(({ delivery }) => keyOf(delivery)));
    const placeOf = (key: string) => (waiting.has(key) ? 'waiting' : this.#active.has(key) ? 'active' : null);
    return deliveries.map((one) => placeOf(keyOf(one)));
  }

  /** When the next delivery is due, `Infinity` for none. */
  get nextAt(): number {
    return Math.min(...this.#waiting.map(({ dueAt }) => dueAt));
  }

  /** What is due goes to a worker, as BullMQ has it: by priority, then in the order it came. */
  take(): QueuedDelivery[] {
    const now = this.clock.now();
    const due = this.#waiting.filter(({ dueAt }) => dueAt <= now).map(({ delivery }) => delivery);
    this.#waiting = this.#waiting.filter(({ dueAt }) => dueAt > now);
    for (const delivery of due) this.#active.add(keyOf(delivery));
    return due.toSorted((a, b) => rank(a) - rank(b));
  }

  /** To be brought again, no earlier than that. */
  later(delivery: QueuedDelivery, dueAt: number): void {
    this.#active.delete(keyOf(delivery));
    this.#waiting.push({ delivery, dueAt });
  }

  done(delivery: Delivery): void {
    this.#active.delete(keyOf(delivery));
  }
}

function keyOf({ runId, delivery }: Delivery): string {
  return `${runId} ${delivery}`;
}

function rank({ priority }: { readonly priority?: unknown }): number {
  if (priority === 'low') return Infinity;
  return typeof priority === 'number' ? priority : 0;
}
