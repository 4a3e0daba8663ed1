import { parseSchedule, zoneNamed, type CronSchedule, type ScheduleText } from '../jobs.js';

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
