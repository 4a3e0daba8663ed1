import { wallOf } from '../schedule/wall-oracle.js';

/* What clocks show, from `Intl` alone. */

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

/** What a clock on the wall shows in that second, as if it was UTC. */
export function shownAt(timeZone: string, at: number): number {
  return wallOf(timeZone, at);
}

export function offsetAt(timeZone: string, at: number): number {
  return shownAt(timeZone, at) - at;
}

/** The first change of the clocks within two years after a time. */
export function changeNear(timeZone: string, from: number): number | null {
  const start = Math.floor(from / MINUTE) * MINUTE;
  for (let day = start; day < start + 730 * DAY; day += 5 * DAY) {
    if (offsetAt(timeZone, day) === offsetAt(timeZone, day + 5 * DAY)) continue;
    let [low, high] = [day, day + 5 * DAY];
    while (high - low > SECOND) {
      const middle = Math.floor((low + high) / 2 / SECOND) * SECOND;
      if (offsetAt(timeZone, middle) === offsetAt(timeZone, low)) low = middle;
      else high = middle;
    }
    return high;
  }
  return null;
}

/** All instants at which clocks show a local time. */
export function instantsShowing(timeZone: string, wall: number): number[] {
  const offsets = new Set<number>();
  for (let at = wall - 30 * HOUR; at <= wall + 30 * HOUR; at += 15 * MINUTE) offsets.add(offsetAt(timeZone, at));
  const instants = [...offsets].map((offset) => wall - offset).filter((at) => shownAt(timeZone, at) === wall);
  return instants.toSorted((a, b) => a - b);
}
