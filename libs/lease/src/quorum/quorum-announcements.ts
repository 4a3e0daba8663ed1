import type { Clock } from '../base/clock.js';
import { notifyWatcher } from '../store/lease-request.js';

export interface AnnouncementsOptions {
  readonly clock: Clock;
  readonly majority: number;
  readonly onReleased: (resource: string) => void;
}

interface Heard {
  readonly lastAt: number;
  /** How many announcements each node has made. */
  readonly counts: Map<string, number>;
  readonly announced: number;
}

/** Announcements of one release come within milliseconds of each other. */
const WINDOW_MS = 1_000;

/**
 * Makes one announcement of those of all nodes, when a majority has made it: then a majority is free. A contender that had
 * taken less than that and gives it back frees nothing, and waking everybody for it would be a storm.
 */
export class QuorumAnnouncements {
  readonly #options: AnnouncementsOptions;
  readonly #heard = new Map<string, Heard>();

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  hear(node: string, resource: string): void {
    const { clock, majority, onReleased } = this.#options;
    this.#forgetOld();
    const { counts, announced } = this.#heard.get(resource) ?? { counts: new Map<string, number>(), announced: 0 };
    counts.set(node, (counts.get(node) ?? 0) + 1);
    // Counted and not just collected: one node may announce a second release before the others announce the first.
    const isNews = [...counts.values()].filter((count) => count > announced).length >= majority;
    this.#heard.delete(resource);
    this.#heard.set(resource, { lastAt: clock.monotonic(), counts, announced: isNews ? announced + 1 : announced });
    if (isNews) notifyWatcher(onReleased, resource);
  }

  /** In the order in which they were last heard of, so the first that is young ends it. */
  #forgetOld(): void {
    const youngest = this.#options.clock.monotonic() - WINDOW_MS;
    for (const [resource, { lastAt }] of this.#heard) {
      if (lastAt > youngest) return;
      this.#heard.delete(resource);
    }
  }
}
