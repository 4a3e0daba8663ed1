import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { Aftermath } from './aftermath.js';
import type { Happening } from './happening.js';
import { News } from './news.js';
import type { Observer } from './observer.js';
import { NOTHING_SEEN, type Sight } from './sight.js';
import { tally, type Tally } from './tally.js';

export interface WatchDeps {
  readonly observer: Observer;
  readonly aftermath: Aftermath;
  readonly clock: Clock;
  readonly tell: (happening: Happening) => void;
}

const LOOK_MS = 250;
const COUNT_MS = 1_000;
/** Redis may be restarted under our eyes; for longer than this there is nothing to be seen. */
const PATIENCE_MS = 10_000;

/** Looks at the stores again and again, and tells what is new. */
export class Watch {
  readonly #news = new News();
  #sight: Sight = NOTHING_SEEN;
  #tally: Tally;
  #countAgainAt = -Infinity;
  #blindSince: number | null = null;

  constructor(private readonly deps: WatchDeps) {
    this.#tally = tally(deps.observer.evidence(NOTHING_SEEN, 0));
  }

  get sight(): Sight {
    return this.#sight;
  }

  /** What is counted so far, for people to look at. */
  get tally(): Tally {
    return this.#tally;
  }

  /** @throws {Error} when the stores could not be read for some seconds */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look();
      await sleep(this.deps.clock, LOOK_MS, signal);
    }
  }

  async #look(): Promise<void> {
    try {
      this.#sight = await this.deps.observer.look();
      this.#blindSince = null;
    } catch (error) {
      return this.#blind(error);
    }
    const { observer, aftermath, tell } = this.deps;
    const { told, explained } = aftermath.follow(this.#sight, observer.archive);
    for (const happening of [...told, ...this.#news.tell(this.#sight, observer.archive, explained)]) tell(happening);
    this.#count();
  }

  #blind(error: unknown): void {
    const { clock, tell } = this.deps;
    // ioredis explains at length, after its first sentence.
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    if (this.#blindSince === null) {
      tell({ id: `blind-${clock.now()}`, at: clock.now(), kind: 'note', text: `Redis does not answer: ${why}` });
    }
    this.#blindSince ??= clock.monotonic();
    if (clock.monotonic() - this.#blindSince < PATIENCE_MS) return;
    throw new Error(`Redis has not answered for ${PATIENCE_MS / 1_000} s (${why}). Start it, and then the demo again.`);
  }

  #count(): void {
    const { observer, clock } = this.deps;
    if (clock.monotonic() < this.#countAgainAt) return;
    this.#countAgainAt = clock.monotonic() + COUNT_MS;
    this.#tally = tally(observer.evidence(this.#sight, clock.now()));
  }
}
