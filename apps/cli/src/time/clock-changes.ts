import { isEvery, parseSchedule, zoneNamed, type CronSchedule, type ScheduleText } from '../jobs.js';

/** A local time that an expression names, and that a change of the clocks leaves out or shows twice. */
export interface TouchedTime {
  readonly kind: 'gap' | 'repeat';
  /** When the clocks change, epoch milliseconds. */
  readonly changeAt: number;
  /** The local time in milliseconds, written as if it was UTC. */
  readonly wall: number;
  /** What the schedule makes of it, in order: epoch milliseconds. */
  readonly instants: readonly number[];
}

interface Change {
  /** The first instant with the new offset. All in milliseconds. */
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/**
 * The local times of a schedule that are touched by a change of the clocks in `[from, to)`, epoch milliseconds. In order,
 * each worked out when it is asked for.
 *
 * Which local times an expression names is what it says in UTC, where clocks never change.
 */
export function* touchedTimes(text: ScheduleText, from: number, to: number): Generator<TouchedTime, void, undefined> {
  const schedule = parseSchedule(text, from);
  // It names no local time.
  if (isEvery(text.expression)) return;
  const named = parseSchedule({ ...text, timeZone: 'UTC' }, from);
  for (const change of changesOf(text.timeZone, from, to)) {
    const { at, before, after } = change;
    const kind = after > before ? 'gap' : 'repeat';
    for (const wall of named.between(at + Math.min(before, after), at + Math.max(before, after))) {
      const instants = kind === 'gap' ? moved(schedule, change) : shown(schedule, wall, change);
      yield { kind, changeAt: at, wall, instants };
    }
  }
}

function* changesOf(timeZone: string, from: number, to: number): Generator<Change, void, undefined> {
  const zone = zoneNamed(timeZone);
  let interval = zone.offsetIntervalAt(Math.floor(from / 1_000));
  while (interval.end * 1_000 < to) {
    const before = interval.offset;
    interval = zone.offsetIntervalAt(interval.end);
    // The table of a zone is also cut where nothing changes.
    if (interval.offset !== before) {
      yield { at: interval.start * 1_000, before: before * 1_000, after: interval.offset * 1_000 };
    }
  }
}

/** A fixed time has one instant a day, so that what comes within the length of the gap comes for what was left out. */
function moved(schedule: CronSchedule, { at, before, after }: Change): readonly number[] {
  return schedule.kind === 'fixed' ? [...schedule.between(at, at + after - before)] : [];
}

function shown(schedule: CronSchedule, wall: number, { before, after }: Change): readonly number[] {
  return [wall - before, wall - after].filter((at) => schedule.next(at - 1) === at);
}

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
