import type { Forecast } from '../../data/types.js';
import { dayText, hourText } from '../../time/instants.js';

export type Hour = Forecast['perHour'][number];

/** One day of the forecast, by the clocks of the zone that is shown. */
export interface Day {
  readonly name: string;
  /** 24 of them; `null` for an hour outside the forecast. An hour that comes twice is the first one here. */
  readonly hours: readonly (Hour | null)[];
  readonly count: number;
}

const HOURS = 24;

/** The hours of a forecast as days of 24, for a grid in which a column is an hour of the day. */
export function daysOf(perHour: readonly Hour[], zone: string): Day[] {
  const days = new Map<string, (Hour | null)[]>();
  for (const hour of perHour) {
    const name = dayText(hour.at, zone);
    const hours = days.get(name) ?? Array.from({ length: HOURS }, () => null);
    const column = Number(hourText(hour.at, zone).slice(0, 2));
    const known = hours[column] ?? null;
    hours[column] = known === null ? hour : { ...known, ...larger(known, hour), count: known.count + hour.count };
    days.set(name, hours);
  }
  return [...days].map(([name, hours]) => ({
    ...{ name, hours },
    count: hours.reduce((sum, hour) => sum + (hour?.count ?? 0), 0),
  }));
}

function larger(one: Hour, other: Hour): Pick<Hour, 'peak' | 'peakAt'> {
  const { peak, peakAt } = other.peak > one.peak ? other : one;
  return { peak, peakAt };
}

/** From 0 to 5 by the order of magnitude: 1, 10 and 10,000 are told apart in one grid. */
export function densityOf(count: number, most: number): number {
  if (count === 0) return 0;
  return Math.max(1, Math.ceil((Math.log1p(count) / Math.log1p(Math.max(1, most))) * 5));
}
