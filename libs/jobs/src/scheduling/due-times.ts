import type { Clock } from '@fencepost/lease';
import type { DuePublisher } from './due-publisher.js';
import { DueSlices } from './due-slices.js';
import type { HeldCron } from './held-cron.js';

export interface DueTimesDeps {
  readonly clock: Clock;
  readonly duePublisher: Pick<DuePublisher, 'publish'>;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * A due time is published this long before, or up to twice as long: nobody needs it earlier, and those of a hundred thousand crons
 * that fire once a day would take eleven megabytes of Redis.
 */
const PUBLISHED_AHEAD_MS = 3_600_000;

/** Crons to be published later are looked at together, minute by minute. */
const LOOK_GRID_MS = 60_000;

/** When each cron of a pod is due, and when it is to be looked at before. By the clock of this pod. */
export class DueTimes {
  readonly due = new DueSlices();
  /** Looks that are no instants, at crons of new terms and at those that are due much later: they delay no instant of others. */
  readonly looks = new DueSlices();

  constructor(private readonly deps: DueTimesDeps) {}

  /** When the next cron is due or looked at; `Infinity` without one. */
  get earliest(): number {
    return Math.min(this.due.index.earliest() ?? Infinity, this.looks.index.earliest() ?? Infinity);
  }

  /** The same, unless as many crons as may be are in progress. */
  get nextSliceAt(): number {
    return Math.min(this.due.nextAt() ?? Infinity, this.looks.nextAt() ?? Infinity);
  }

  /** A cron of a new term, whose next instant is not known yet. */
  lookAt(cron: string, at: number): void {
    this.due.index.remove(cron);
    this.looks.index.set(cron, at);
  }

  /** @param at `null` for a cron that has no next instant */
  set(cron: string, at: number | null): void {
    const lookAt = at === null ? null : this.#lookBefore(at);
    if (lookAt === null) this.looks.index.remove(cron);
    else this.looks.index.set(cron, lookAt);
    if (at === null || lookAt !== null) this.due.index.remove(cron);
    else this.due.index.set(cron, at);
  }

  remove(cron: string): void {
    this.due.index.remove(cron);
    this.looks.index.remove(cron);
  }

  /** In time of the store's clock, as far as its offset is known here. One that is far off is taken back, if it may be there. */
  publish(crons: readonly HeldCron[]): void {
    const dues: [string, number | null][] = [];
    for (const held of crons) {
      const { name } = held.entry.definition;
      const dueAt = this.due.index.dueAt(name);
      if (dueAt !== null || held.published) dues.push([name, dueAt === null ? null : Math.floor(dueAt - held.aheadMs)]);
      held.published = dueAt !== null;
    }
    this.deps.duePublisher.publish(dues);
  }

  /** When to look again at a cron that is due much later; at different times, for all may be due at one instant. */
  #lookBefore(at: number): number | null {
    const { clock, random } = this.deps;
    if (at - clock.now() <= 2 * PUBLISHED_AHEAD_MS) return null;
    return Math.ceil((at - PUBLISHED_AHEAD_MS * (1 + random())) / LOOK_GRID_MS) * LOOK_GRID_MS;
  }
}
