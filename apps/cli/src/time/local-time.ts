import { zoneNamed } from '../jobs.js';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Epoch milliseconds as the clock on the wall shows them there. */
export function localTime(at: number, timeZone: string): { readonly text: string; readonly offset: string } {
  const { offset } = zoneNamed(timeZone).offsetIntervalAt(Math.floor(at / 1_000));
  return { text: wallTime(at + offset * 1_000), offset: offsetText(offset) };
}

/** A local time that is written as if it was UTC. */
export function wallTime(wall: number): string {
  const date = new Date(wall);
  const [day, time = ''] = date.toISOString().split('T');
  return `${WEEKDAYS[date.getUTCDay()]} ${day} ${time.slice(0, 8)}`;
}

/** The time of day alone. */
export function timeOfDay(wall: number): string {
  return wallTime(wall).slice(-8);
}

function offsetText(seconds: number): string {
  const [sign, all] = [seconds < 0 ? '-' : '+', Math.abs(seconds)];
  const parts = [Math.floor(all / 3_600), Math.floor(all / 60) % 60, all % 60].map((part) =>
    `${part}`.padStart(2, '0'),
  );
  return sign + parts.slice(0, all % 60 === 0 ? 2 : 3).join(':');
}
