import type { Clock } from '@fencepost/lease';
import type { Delivery } from '@fencepost/ledger';
import type { Disposition, Place, QueuedDelivery, RunQueue } from '@fencepost/jobs/internal';

/** Who takes jobs. */
export interface Consumer {
  /** Whether it could take one more now, as far as the queue can see. */
  readonly isFree: () => boolean;
  /** Whether the queue hears it. */
  readonly isHeard: () => boolean;
  /** The queue has given the job to somebody else. */
  readonly onStalled: (job: Job) => void;
  readonly deliver: (job: Job) => Promise<Disposition>;
}

export interface Job extends Delivery {
  /** Another one each time it is taken. */
  token: number;
  state: 'waiting' | 'active' | 'delayed' | 'over';
  consumer: Consumer | null;
}

export interface SimQueueDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly soonestMs: number;
  readonly stalledMs: number;
}

/**
 * A queue that hands each job to one worker at a time, and again to another when the first is not heard any more. It can lose
 * jobs and bring jobs again, as the real one does when its server fails over.
 */
export class SimQueue implements RunQueue {
  readonly #jobs = new Map<string, Job>();
  readonly #waiting = new Set<Job>();
  readonly #active = new Set<Job>();
  readonly #consumers = new Set<Consumer>();
  #tokens = 0;

  constructor(private readonly deps: SimQueueDeps) {
    this.#watchStalled();
  }

  async enqueue(deliveries: readonly QueuedDelivery[]): Promise<void> {
    for (const { runId, delivery, delayMs = 0 } of deliveries) {
      const key = keyOf({ runId, delivery });
      if (this.#jobs.has(key)) continue;
      const job: Job = { runId, delivery, token: 0, state: 'waiting', consumer: null };
      this.#jobs.set(key, job);
      if (delayMs > 0) this.#delay(job, delayMs);
      else this.#waiting.add(job);
    }
    this.pump();
  }

  async holds(deliveries: readonly Delivery[]): Promise<Place[]> {
    return deliveries.map((delivery) => {
      const { state = 'over' } = this.#jobs.get(keyOf(delivery)) ?? {};
      return state === 'over' ? null : state === 'active' ? 'active' : 'waiting';
    });
  }

  join(consumer: Consumer): void {
    this.#consumers.add(consumer);
    this.pump();
  }

  leave(consumer: Consumer): void {
    this.#consumers.delete(consumer);
  }

  /** Hands out what waits, as far as somebody is free. */
  pump(): void {
    for (const job of this.#waiting) {
      const free = [...this.#consumers].filter((consumer) => consumer.isFree());
      const consumer = free[Math.floor(this.deps.random() * free.length)];
      if (!consumer) return;
      this.#waiting.delete(job);
      void this.#deliver(job, consumer);
    }
  }

  /** Forgets each job with this chance, whatever becomes of it. @returns how many */
  lose(chance: number, random: () => number): number {
    const lost = [...this.#jobs].filter(([, { state }]) => state !== 'over' && random() < chance);
    for (const [key, job] of lost) {
      this.#jobs.delete(key);
      this.#waiting.delete(job);
      this.#active.delete(job);
      job.state = 'over';
      job.token = -1;
    }
    return lost.length;
  }

  /** Forgets all of them, as a server that was wiped; those that are over may come again. */
  wipe(): void {
    this.lose(1, () => 0);
    this.#jobs.clear();
  }

  /** Brings jobs again that somebody has, or that are over, beside who has them. @returns how many */
  repeat(chance: number, random: () => number): number {
    const again = [...this.#jobs.values()].filter(
      ({ state }) => (state === 'active' || state === 'over') && random() < chance,
    );
    for (const job of again) {
      this.#active.delete(job);
      this.#wait(job);
    }
    this.pump();
    return again.length;
  }

  /** Everything that is not over: what a later loss goes back to. */
  save(): readonly Delivery[] {
    return [...this.#jobs.values()].flatMap(({ runId, delivery, state }) =>
      state === 'over' ? [] : [{ runId, delivery }],
    );
  }

  /** Back to an earlier state, with everything that was not over then to be brought anew. */
  restore(saved: readonly Delivery[]): void {
    this.wipe();
    void this.enqueue(saved);
  }

  async #deliver(job: Job, consumer: Consumer): Promise<void> {
    const token = (this.#tokens += 1);
    Object.assign(job, { state: 'active', token, consumer });
    this.#active.add(job);
    const carried = await consumer
      .deliver({ ...job })
      .catch((error: unknown): Disposition => ({ kind: 'failed', error }));
    if (job.token === token) this.#end(job, carried);
    this.pump();
  }

  #end(job: Job, carried: Disposition): void {
    // Nobody hears the end, and nobody renews its lock any more, also when the link is whole again: it stalls.
    if (!job.consumer?.isHeard()) return void (job.consumer = null);
    this.#active.delete(job);
    if (carried.kind === 'later') this.#delay(job, carried.waitMs);
    else job.state = 'over';
  }

  #delay(job: Job, waitMs: number): void {
    const { clock, soonestMs } = this.deps;
    Object.assign(job, { state: 'delayed', consumer: null });
    const { token } = job;
    clock.after(Math.max(waitMs, soonestMs), () => {
      if (job.token !== token || job.state !== 'delayed') return;
      this.#wait(job);
      this.pump();
    });
  }

  #wait(job: Job): void {
    Object.assign(job, { state: 'waiting', consumer: null, token: (this.#tokens += 1) });
    this.#waiting.add(job);
  }

  #watchStalled(): void {
    this.deps.clock.after(this.deps.stalledMs, () => {
      for (const job of this.#active) {
        const { consumer } = job;
        if (consumer?.isHeard()) continue;
        consumer?.onStalled({ ...job });
        this.#active.delete(job);
        this.#wait(job);
      }
      this.pump();
      this.#watchStalled();
    });
  }
}

function keyOf({ runId, delivery }: Delivery): string {
  return `${runId} ${delivery}`;
}
