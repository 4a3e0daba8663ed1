import { CronExpressionParser, type CronExpression } from 'cron-parser';
import { Zone } from './zone.js';

/** A cron expression and a time zone, as a pure function from an instant to the next one. Epoch milliseconds. */
export interface Schedule {
  readonly expression: string;
  readonly timeZone: string;
  /** The first instant after `after`, strictly; `null` when there is none any more. */
  next(after: number): number | null;
  /** The last instant before `before`, strictly; `null` when there is none. */
  previous(before: number): number | null;
}

export interface ScheduleText {
  readonly expression: string;
  /** IANA name. */
  readonly timeZone: string;
  /** What `H` in a field is seeded with, so that it is stable: an unseeded one moves at every parse. */
  readonly seed: string;
}

/** What is wrong with a schedule: which of the two texts, and what was expected instead. */
export class ScheduleTextError extends Error {
  constructor(
    readonly part: 'expression' | 'timeZone',
    readonly expected: string,
  ) {
    super(expected);
    this.name = 'ScheduleTextError';
  }
}

/** cron-parser caps at 1,024; nothing a person writes comes near, and a longer text is an attack on the parser. */
const LONGEST_EXPRESSION = 256;

/** An expression that fires once in more than five years (`0 0 30 2 *`) is a typing error. */
const FIVE_YEARS_MS = 5 * 366 * 24 * 3_600_000;

/**
 * Reads an expression of 5 or 6 fields, or one of the `@daily` kind, in a zone.
 *
 * `now` only serves to check that an instant comes within five years.
 * @throws {ScheduleTextError}
 */
export function parseSchedule(text: ScheduleText, now: number): Schedule {
  const schedule = new ZonedSchedule(text, { zone: readZone(text.timeZone), wall: parse(text) });
  const first = schedule.next(now);
  if (first === null || first > now + FIVE_YEARS_MS) {
    throw new ScheduleTextError('expression', 'an expression with an instant within five years');
  }
  return schedule;
}

function readZone(timeZone: string): Zone {
  // `Intl` also takes offsets like "+05:30"; a zone here is a name, so that its rules are known.
  try {
    if (/^[A-Za-z]/.test(timeZone)) return new Zone(timeZone);
  } catch {
    // What `Intl` says of it ("Invalid time zone specified") is less than what follows.
  }
  throw new ScheduleTextError('timeZone', 'an IANA time zone such as "Europe/Berlin" or "UTC"');
}

function parse({ expression, seed }: ScheduleText): CronExpression {
  const fields = expression.trim().split(/\s+/).length;
  const shaped = expression.startsWith('@') ? fields === 1 : fields === 5 || fields === 6;
  if (!shaped || expression.length > LONGEST_EXPRESSION) {
    throw new ScheduleTextError('expression', 'a cron expression of 5 or 6 fields, or one like "@daily"');
  }
  try {
    // In UTC whatever the zone: the parser's own steps across a change of the clocks differ forwards and backwards.
    return CronExpressionParser.parse(expression, { tz: 'UTC', hashSeed: seed });
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new ScheduleTextError('expression', `a valid cron expression (${detail})`);
  }
}

interface Parts {
  readonly zone: Zone;
  /** The expression on the clock on the wall: local times, written as if they were UTC. */
  readonly wall: CronExpression;
}

/**
 * Walks from one stretch of constant offset to the next. Within one, local times and instants map one to one; what lies
 * in a gap, or comes twice, is decided at the border, in one place for both directions.
 *
 * A schedule with one value in second, minute and hour is about the clock on the wall: what the gap swallows comes at its
 * end, and what is repeated comes the first time. All others are about elapsed time: nothing in the gap, both times.
 */
class ZonedSchedule implements Schedule {
  readonly expression: string;
  readonly timeZone: string;
  readonly #fixed: boolean;

  constructor(
    text: ScheduleText,
    private readonly parts: Parts,
  ) {
    this.expression = text.expression;
    this.timeZone = text.timeZone;
    const { second, minute, hour } = parts.wall.fields;
    this.#fixed = [second, minute, hour].every(({ values }) => values.length === 1);
  }

  next(after: number): number | null {
    const { zone } = this.parts;
    for (let [from, since] = [after, after]; ;) {
      const offset = zone.offset(since);
      const wall = this.#step('next', from + offset);
      if (wall === null) return null;
      const instant = wall - offset;
      const change = zone.nextChange(since, instant);
      if (change !== null) {
        if (this.#swallowedAt(change)) return change;
        [from, since] = [change - 1, change];
      } else if (this.#fixed && zone.isRepeated(instant)) [from, since] = [instant, instant];
      else return instant;
    }
  }

  previous(before: number): number | null {
    const { zone } = this.parts;
    for (let to = before; ;) {
      const offset = zone.offset(to - 1);
      const wall = this.#step('prev', to + offset);
      if (wall === null) return null;
      const instant = wall - offset;
      const change = zone.lastChange(instant, to - 1);
      if (change !== null) {
        if (this.#swallowedAt(change)) return change;
        to = change;
      } else if (this.#fixed && zone.isRepeated(instant)) to = instant;
      else return instant;
    }
  }

  /** Whether the gap that ends at `change` has swallowed a local time of a fixed schedule. */
  #swallowedAt(change: number): boolean {
    const [from, to] = [change + this.parts.zone.offset(change - 1), change + this.parts.zone.offset(change)];
    const wall = this.#fixed && from < to ? this.#step('next', from - 1) : null;
    return wall !== null && wall < to;
  }

  /** The parser throws when it has looked far enough without finding anything. */
  #step(direction: 'next' | 'prev', from: number): number | null {
    try {
      this.parts.wall.reset(new Date(from));
      return this.parts.wall[direction]().getTime();
    } catch {
      return null;
    }
  }
}
