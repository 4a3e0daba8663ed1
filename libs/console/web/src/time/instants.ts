import { WORDS } from '../words.js';

const { units } = WORDS.time;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Building one costs a thousand times what using it costs. */
function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([zone, options]);
  const known = formats.get(key);
  if (known) return known;
  const made = build(zone, options);
  formats.set(key, made);
  return made;
}

/** A browser may be older than a zone's name. */
function build(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' });
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC', hourCycle: 'h23' });
  }
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `21 Nov 03:00:00`, with the year when it is not this one. */
export function instantText(iso: string, zone: string): string {
  const date = new Date(iso);
  const parts: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };
  if (date.getUTCFullYear() !== new Date().getUTCFullYear()) parts.year = 'numeric';
  return `${format(zone, parts).format(date)} ${clockText(iso, zone)}`;
}

/** The same with milliseconds: where two steps of one run are told apart. */
export function preciseText(iso: string, zone: string): string {
  return `${instantText(iso, zone)}.${iso.slice(20, 23)}`;
}

/** `CET`, `GMT-5`, `UTC`: what the zone is called at this instant. */
export function zoneName(iso: string, zone: string): string {
  const parts = format(zone, { hour: '2-digit', timeZoneName: 'short' }).formatToParts(new Date(iso));
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}

export function clockText(iso: string, zone: string): string {
  return format(zone, { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(new Date(iso));
}

export function hourText(iso: string, zone: string): string {
  return format(zone, { hour: '2-digit', minute: '2-digit' }).format(new Date(iso));
}

export function dayText(iso: string, zone: string): string {
  return format(zone, { weekday: 'short', day: 'numeric', month: 'short' }).format(new Date(iso));
}

export function utcText(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} ${WORDS.time.choices.utc}`;
}

/** `1,234 ms`, to the millisecond however long it is. */
export function msText(ms: number): string {
  return `${Math.round(ms).toLocaleString('en')} ${units.ms}`;
}

/** `1.2 s`, `3 min 20 s`, `2 h 5 min`: two units at the most. */
export function durationText(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const size = Math.abs(ms);
  if (size < 10) return `${Number(ms.toFixed(1)) || 0} ${units.ms}`;
  if (size < SECOND) return `${sign}${Math.round(size)} ${units.ms}`;
  if (size < 10 * SECOND) return `${sign}${(size / SECOND).toFixed(1)} ${units.s}`;
  if (size < MINUTE) return `${sign}${Math.floor(size / SECOND)} ${units.s}`;
  const [big, small] = size < HOUR ? [MINUTE, SECOND] : size < DAY ? [HOUR, MINUTE] : [DAY, HOUR];
  const rest = Math.floor((size % big) / small);
  return `${sign}${Math.floor(size / big)} ${UNIT[big]}${rest === 0 ? '' : ` ${rest} ${UNIT[small]}`}`;
}

const UNIT: Readonly<Record<number, string>> = {
  [SECOND]: units.s,
  [MINUTE]: units.min,
  [HOUR]: units.h,
  [DAY]: units.d,
};

/** What is past by a moment is due, and its answer is on its way: that is no news of a second ago. */
const JUST_NOW_MS = 5 * SECOND;

export function relativeText(iso: string, now: number): string {
  const away = new Date(iso).getTime() - now;
  if (away < SECOND && away > -JUST_NOW_MS) return WORDS.time.now;
  return away > 0 ? WORDS.time.ahead(wholeText(away)) : WORDS.time.ago(wholeText(-away));
}

function wholeText(ms: number): string {
  return ms < MINUTE ? `${Math.floor(ms / SECOND)} ${units.s}` : durationText(ms);
}
