import { DueIndex } from './due-index.js';

/** Crons per slice: one call each to claim, enqueue and confirm, and a few milliseconds of the event loop. */
export const SLICE = 200;

/** A further slice begins only while at most this many crons are in progress: one slice is claimed while another is enqueued. */
const MAX_BESIDE = SLICE;

/** A cron that has been due for longer gives way to those that have just fallen due. */
export const LATE_MS = 500;

/** Crons that are dispatched together. */
export interface Slice {
  /** In the order of their due times. */
  readonly crons: readonly string[];
  /** The earliest of them. */
  readonly dueAt: number;
}

/**
 * Hands out the crons that are due in slices, so that 20,000 crons of one instant do not delay the instants of others.
 *
 * A slice has at most {@link SLICE} crons, and only a few are in progress at once: what falls due meanwhile joins the next
 * slice instead of waiting behind everything that was due before. Slices go out in the order of their due time, and of one
 * instant the crons that fire most often go first: they were set last. When more is due than a slice holds, half of its places go
 * to the crons that have waited longest, so that no cron starves: with n crons due before it, it is dispatched within n / 100
 * slices. The other half is for crons that have been due for less than {@link LATE_MS}, so that the instants after a burst pass
 * its backlog. Either half takes what the other leaves.
 */
export class DueSlices {
  readonly index = new DueIndex();
  readonly #inProgress = new Set<Slice>();
  /** When the last slice was taken. */
  #takenAt = -Infinity;

  /** When the next slice can be taken; `null` if nothing will be due, or until a slice in progress has ended. */
  nextAt(): number | null {
    const crons = [...this.#inProgress].reduce((sum, slice) => sum + slice.crons.length, 0);
    return crons > MAX_BESIDE ? null : this.index.earliest();
  }

  /** The next slice, to be ended with {@link end}; `null` if none can be taken now. */
  take(now: number): Slice | null {
    const dueAt = this.nextAt();
    if (dueAt === null || dueAt > now) return null;
    // With a slow store, what fell due since the slice before would be late already.
    const lateMs = Math.max(LATE_MS, 2 * (now - this.#takenAt));
    this.#takenAt = now;
    const slice = { crons: this.index.takeSlice(now, { max: SLICE, lateMs }), dueAt };
    this.#inProgress.add(slice);
    return slice;
  }

  end(slice: Slice): void {
    this.#inProgress.delete(slice);
  }

  /** How long the oldest cron has been due whose slice has not ended; 0 if none is due. */
  lateness(now: number): number {
    const begun = [...this.#inProgress].map(({ dueAt }) => dueAt);
    return Math.max(0, now - Math.min(this.index.earliest() ?? Infinity, ...begun));
  }

  /** How many crons are due, those in progress included. */
  backlog(now: number): number {
    return [...this.#inProgress].reduce((sum, { crons }) => sum + crons.length, this.index.countDue(now));
  }
}
