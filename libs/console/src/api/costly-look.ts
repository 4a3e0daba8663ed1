import type { Clock } from '@fencepost/lease';

interface LookTimes {
  /** Repeated no sooner, milliseconds. */
  readonly freshMs: number;
  /** Whoever asks again waits for a look that took less than this, and gets the one before of a slower one. */
  readonly slowMs: number;
}

/** What a look has found. */
export interface Seen<Found> {
  readonly found: Found;
  /** When it had begun, monotonic: what happened later may be missing. */
  readonly at: number;
  readonly tookMs: number;
}

/** A look at every cron takes at most this part of the time, however often somebody asks. */
const AT_MOST_A = 20;
/** A page asks this often. So what is older than that by the time of a new look was found for somebody who has left. */
const ASKED_EVERY_MS = 5_000;

/** Something that costs a question about every cron: one look for all that ask, and those who come while it goes on get the one before. */
export class CostlyLook<Found> {
  #known: Seen<Found> | null = null;
  #looking: Promise<Seen<Found>> | null = null;

  constructor(
    private readonly look: () => Promise<Found>,
    private readonly clock: Clock,
    private readonly times: LookTimes,
  ) {}

  async recent(): Promise<Seen<Found>> {
    const known = this.#known;
    const ageMs = known ? this.clock.monotonic() - known.at : Infinity;
    const goodForMs = known ? Math.max(this.times.freshMs, (AT_MOST_A + 1) * known.tookMs) : 0;
    if (known && ageMs < goodForMs) return known;
    this.#looking ??= this.#see().finally(() => (this.#looking = null));
    const isLeftBehind = !known || ageMs > goodForMs + ASKED_EVERY_MS + known.tookMs;
    if (isLeftBehind || known.tookMs < this.times.slowMs) return this.#looking;
    // It fails for whoever asks next, if the store is still away then.
    this.#looking.catch(() => {});
    return known;
  }

  async #see(): Promise<Seen<Found>> {
    const at = this.clock.monotonic();
    const found = await this.look();
    return (this.#known = { found, at, tookMs: this.clock.monotonic() - at });
  }
}
