import { seededRandom } from '../support/seeded-random.js';

const DAY_MINUTES = 1_440;
const HOUR_MINUTES = 60;
const QUARTER_MINUTES = 15;
export const OFTEN_S = 10;

/** Of all schedules. The rest is daily. */
const SHARE = { hourly: 0.25, quarterly: 0.05 };
/** Due every ten seconds. */
const OFTEN = 200;
/** Of the daily ones at midnight, and of the hourly ones on the hour; the others at any minute. */
const MIDNIGHT = 0.15;
const ON_THE_HOUR = 0.1;

/**
 * The schedules of tenants: most are daily, many hourly, all at the first second of a minute, and more at midnight and on the hour
 * than at any other. A few are due every ten seconds: their instants show what a burst does to others.
 */
export class Schedules {
  readonly #daily: number[][] = buckets(DAY_MINUTES);
  readonly #hourly: number[][] = buckets(HOUR_MINUTES);
  readonly #quarterly: number[][] = buckets(QUARTER_MINUTES);
  readonly often: number[] = [];

  constructor(
    readonly count: number,
    seed: number,
  ) {
    const random = seededRandom(seed);
    const minute = (of: number) => Math.floor(random() * of);
    for (let n = 0; n < count; n += 1) {
      const luck = random();
      if (n < OFTEN) this.often.push(n);
      else if (luck < SHARE.quarterly) this.#quarterly[minute(QUARTER_MINUTES)]?.push(n);
      else if (luck < SHARE.quarterly + SHARE.hourly) {
        this.#hourly[random() < ON_THE_HOUR ? 0 : minute(HOUR_MINUTES)]?.push(n);
      } else this.#daily[random() < MIDNIGHT ? 0 : minute(DAY_MINUTES)]?.push(n);
    }
  }

  /** Due in this second: `at` in seconds since a midnight. */
  *due(at: number): Generator<number> {
    if (at % OFTEN_S === 0) yield* this.often;
    if (at % 60 !== 0) return;
    const minute = at / 60;
    yield* this.#daily[minute % DAY_MINUTES] ?? [];
    yield* this.#hourly[minute % HOUR_MINUTES] ?? [];
    yield* this.#quarterly[minute % QUARTER_MINUTES] ?? [];
  }

  get instantsPerDay(): number {
    const sizeOf = (all: readonly number[][]) => all.reduce((sum, some) => sum + some.length, 0);
    const quarters = sizeOf(this.#quarterly) * (DAY_MINUTES / QUARTER_MINUTES);
    return sizeOf(this.#daily) + sizeOf(this.#hourly) * 24 + quarters + this.often.length * (86_400 / OFTEN_S);
  }
}

function buckets(count: number): number[][] {
  return Array.from({ length: count }, () => []);
}
