import { zoneNamed } from '@fencepost/schedule';

/* How facts are said to a person. */

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Milliseconds as a person says them, in at most two units: `120 ms`, `3.2 s`, `4 min 10 s`, `2 h`. */
export function spoken(ms: number): string {
  const rest = Math.abs(Math.round(ms));
  if (rest < 1_000) return `${rest} ms`;
  if (rest < 10_000) return `${Number((rest / 1_000).toFixed(1))} s`;
  const [name, size, n] = unitOf(rest);
  const smaller = UNITS[n + 1];
  const more = smaller ? Math.floor((rest % size) / smaller[1]) : 0;
  return `${Math.floor(rest / size)} ${name}${smaller && more > 0 ? ` ${more} ${smaller[0]}` : ''}`;
}

function unitOf(ms: number): [string, number, number] {
  const n = UNITS.findIndex(([, size]) => ms >= size);
  const [name, size] = UNITS[n] ?? ['s', 1_000];
  return [name, size, n];
}

/** To the second where it is one, as `2026-03-29T01:00:00Z`. */
export function utc(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

/** What the clock on the wall shows there, milliseconds written as if they were UTC. */
export function wallOf(at: number, timeZone: string): number {
  return at + zoneNamed(timeZone).offsetIntervalAt(Math.floor(at / 1_000)).offset * 1_000;
}

/** A local time that is written as if it was UTC: `Sun 2026-03-29 02:30:00`. */
export function wallText(wall: number): string {
  const date = new Date(wall);
  return `${WEEKDAYS[date.getUTCDay()]} ${date.toISOString().slice(0, 19).replace('T', ' ')}`;
}

export function timeOfDay(wall: number): string {
  return new Date(wall).toISOString().slice(11, 19);
}

/** An instant, and what the clocks of a zone show then. */
export function bothClocks(at: number, timeZone: string): string {
  return timeZone === 'UTC' ? utc(at) : `${utc(at)} (${wallText(wallOf(at, timeZone))} in ${timeZone})`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
