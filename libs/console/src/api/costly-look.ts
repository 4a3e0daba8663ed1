import type { Clock } from '@fencepost/lease';

interface LookTimes {
  /** Repeated no sooner, milliseconds. */
  readonly freshMs: number;
  /** Whoever asks again waits for a look that took less than this, and gets the one before of a slower one. */
  readonly slowMs: number;
}

interface Seen<Found> {
  readonly found: Found;
  readonly at: number;
  readonly tookMs: number;
}

/** A look at every cron takes at most this part of the time, however often somebody asks. */
const AT_MOST_A = 20;
/** What is older than this is not shown while a new look goes on. */
const MAX_AGE_MS = 5 * 60_000;

/** Something that costs a question about every cron: one look for all that ask, and those who come while it goes on get the one before. */
export class CostlyLook<Found> {
  #known: Seen<Found> | null = null;
  #looking: Promise<Seen<Found>> | null = null;

  constructor(
    private readonly look: () => Promise<Found>,
    private readonly clock: Clock,
    private readonly times: LookTimes,
  ) {}

  async recent(): Promise<Found> {
    const known = this.#known;
    const ageMs = known ? this.clock.monotonic() - known.at : Infinity;
    if (known && ageMs < Math.max(this.times.freshMs, AT_MOST_A * known.tookMs)) return known.found;
    this.#looking ??= this.#see().finally(() => (this.#looking = null));
    if (!known || ageMs > MAX_AGE_MS || known.tookMs < this.times.slowMs) return (await this.#looking).found;
    // It fails for whoever asks next, if the store is still away then.
    this.#looking.catch(() => {});
    return known.found;
  }

  async #see(): Promise<Seen<Found>> {
    const since = this.clock.monotonic();
    const found = await this.look();
    const at = this.clock.monotonic();
    return (this.#known = { found, at, tookMs: at - since });
  }
}
