import { DueSlices, MemoryMembership } from '@fencepost/jobs/internal/scheduling';
import { OVERDUE_MS } from '@fencepost/jobs/internal';
import type { Clock } from '@fencepost/lease';

/**
 * The membership in memory, which looks at all published due times at each heartbeat, is given only those that are overdue: a
 * hundred pods look at thousands of them each second.
 */
export class SparseMembership extends MemoryMembership {
  readonly #ahead = new DueSlices().index;
  readonly #dueAt = new Map<string, number>();
  readonly #overdue = new Set<string>();
  readonly #clock: Clock;
  /** Entries that were ever written: a reader is charged for those since its last look. */
  entries = 0;

  constructor({ clock, version }: { readonly clock: Clock; readonly version: () => number }) {
    super({ clock, version });
    this.#clock = clock;
  }

  override async heartbeat(
    ...args: Parameters<MemoryMembership['heartbeat']>
  ): ReturnType<MemoryMembership['heartbeat']> {
    this.entries += 1;
    for (const cron of this.#ahead.takeDue(this.#clock.now() - OVERDUE_MS)) {
      this.#overdue.add(cron);
      await super.publishDue(new Map([[cron, this.#dueAt.get(cron) ?? null]]));
    }
    return super.heartbeat(...args);
  }

  override async beat(...args: Parameters<MemoryMembership['beat']>): Promise<void> {
    this.entries += 1;
    return super.beat(...args);
  }

  override async leave(pod: string): Promise<void> {
    this.entries += 1;
    return super.leave(pod);
  }

  override async publishDue(dues: ReadonlyMap<string, number | null>): Promise<void> {
    for (const [cron, due] of dues) {
      if (this.#overdue.delete(cron)) await super.publishDue(new Map([[cron, null]]));
      if (due === null) {
        this.#ahead.remove(cron);
        this.#dueAt.delete(cron);
      } else {
        this.#ahead.set(cron, due);
        this.#dueAt.set(cron, due);
      }
    }
  }
}
