/** What all crons beyond the bound are called. */
export const OTHER = 'other';

/** How many crons have series of their own where nobody says so. */
export const DEFAULT_CRONS = 200;

/** `all`, `none`, or how many. */
export type CronsTold = 'all' | 'none' | number;

export function mostOf(told: CronsTold): number {
  if (told === 'all') return Infinity;
  return told === 'none' ? 0 : told;
}

/**
 * Which crons are told apart. A series costs memory here and in Prometheus for as long as it is there, and a cron has some
 * thirty: with 10,000 crons they would be 300,000 for each pod.
 *
 * The choice follows from the catalog alone, so that all pods make the same one, and their series of a cron belong together.
 */
export class CronLabels {
  readonly #chosen = new Set<string>();

  /** @param onGone called with each cron that is not told apart any more: its series are to go */
  constructor(
    private readonly most: number,
    private readonly onGone: (cron: string) => void,
  ) {}

  /** What the label says of a cron. One that the catalog has not named yet gets a place as long as there are some. */
  of(cron: string): string {
    if (this.#chosen.has(cron)) return cron;
    if (this.#chosen.size >= this.most) return OTHER;
    this.#chosen.add(cron);
    return cron;
  }

  /** @param ranked all crons of the catalog, the most important first */
  choose(ranked: readonly string[]): void {
    const chosen = new Set(ranked.slice(0, this.most));
    for (const cron of this.#chosen) {
      if (chosen.has(cron)) continue;
      this.#chosen.delete(cron);
      this.onGone(cron);
    }
    for (const cron of chosen) this.#chosen.add(cron);
  }
}
