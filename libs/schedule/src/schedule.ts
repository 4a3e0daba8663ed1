import { createHash } from 'node:crypto';
import { EverySteps, FixedSteps, IntervalSteps, shortestPeriod, type DstRule } from './fixed-steps.js';
import { checkSeed, isEvery, readEvery, readExpression, type Expression } from './read-expression.js';
import { ScheduleError, ScheduleTextError } from './schedule-error.js';
import type { Steps } from './steps.js';
import { zoneNamed, type Zone } from './zone.js';

/** The expression of what runs only when somebody asks for it: it has no instants. */
export const MANUAL = '@manual';

export function isManual(expression: unknown): boolean {
  return typeof expression === 'string' && expression.trim() === MANUAL;
}

/** Of a schedule without instants. */
const NO_STEPS: Steps = { atOrAfter: () => Infinity, atOrBefore: () => -Infinity };

export { ScheduleError, ScheduleTextError } from './schedule-error.js';
export type { DstRule } from './fixed-steps.js';

/** A cron expression or an interval, and a time zone, as a pure function from an instant to the next one. Epoch milliseconds. */
export interface Schedule {
  readonly expression: string;
  readonly timeZone: string;
  /** The first instant after `after`, strictly; `null` when none comes within 50 years. */
  next(after: number): number | null;
  /** The last instant before `before`, strictly; `null` when there is none within 50 years. */
  previous(before: number): number | null;
}

/** A schedule that was read from an expression, and what else follows from that. */
export interface CronSchedule extends Schedule {
  /** `fixed`: about the clock on the wall, with the rule for its changes. `interval`: about elapsed time. */
  readonly kind: 'fixed' | 'interval';
  /** How much later than its instants the cron is due: the same for all of them, and less than the shortest period. */
  readonly spreadMs: number;
  /** What `spreadMs` is drawn from, for a cron of another name: the spread as it was asked for, at most the shortest period. */
  readonly spreadOverMs: number;
  /** The instants in `[from, to)`, in order, each worked out when it is asked for. */
  between(from: number, to: number): Generator<number, void, undefined>;
}

export interface ScheduleText {
  readonly expression: string;
  /** IANA name. */
  readonly timeZone: string;
  /** The cron's name: what `H` and the spread come from, so that they are the same on every pod and for ever. */
  readonly seed: string;
  /** For a fixed time that doesn't exist or comes twice; by default `next-valid` and `first`. */
  readonly dst?: Partial<DstRule>;
  /** Over how many milliseconds crons of the same expression are spread; none by default. */
  readonly spreadMs?: number;
  /** Instants that are closer than this on the clock on the wall are refused; milliseconds. */
  readonly minIntervalMs?: number;
}

/** An expression that fires once in more than five years (`0 0 30 2 *`) is a typing error. */
const FIVE_YEARS = 5 * 366 * 86_400;

/** The fifth Monday of a February may be 40 years away. */
const FIFTY_YEARS = 50 * 366 * 86_400;

/** Dates end at 8.64e15. */
const LAST_MS = 8e15;

const GAPS = ['next-valid', 'skip', 'shift'];
const REPEATS = ['first', 'last', 'both'];

/**
 * Reads an expression of 5 or 6 fields, or one of the `@daily` kind, in a zone. `@manual` has no instants: what it belongs
 * to runs when somebody asks for it, and is never put off. `@every 30s` has the multiples of the interval since
 * 1970-01-01T00:00:00Z, in any zone.
 *
 * `now` only serves to check that an instant of any other comes within five years.
 * @throws {ScheduleTextError} for what is wrong with the expression, the zone or the seed
 * @throws {ScheduleError} for what is wrong with the other options
 * @throws {RangeError} for a `now` that is no instant
 */
export function parseSchedule(text: ScheduleText, now: number): CronSchedule {
  const zone = readZone(text.timeZone);
  if (isManual(text.expression)) return manualSchedule(text);
  if (typeof text.expression === 'string' && isEvery(text.expression)) return everySchedule(text);
  const expression = readExpression(text.expression, text.seed);
  const steps = stepsOf(expression, zone, readRule(text.dst));
  if (!(Math.abs(now) <= LAST_MS)) throw new RangeError(`Expected "now" in epoch milliseconds, got ${now}.`);
  const from = Math.floor(now / 1_000);
  if (steps.atOrAfter(from, from + FIVE_YEARS) === Infinity) {
    throw new ScheduleTextError('expression', 'an expression with an instant within five years');
  }
  const spreadOverMs = readSpread(text, (enough) => shortestPeriod(expression.clock, enough));
  return new SteppedSchedule(text, { steps, fixed: expression.fixed, spreadOverMs });
}

/** What else it says is checked all the same, so that it holds when the expression becomes another one. */
function manualSchedule(text: ScheduleText): CronSchedule {
  checkSeed(text.seed);
  readRule(text.dst);
  checkDistances(text);
  return new SteppedSchedule(text, { steps: NO_STEPS, fixed: false, spreadOverMs: 0 });
}

function everySchedule(text: ScheduleText): CronSchedule {
  checkSeed(text.seed);
  readRule(text.dst);
  const seconds = readEvery(text.expression);
  const spreadOverMs = readSpread(text, () => seconds);
  return new SteppedSchedule(text, { steps: new EverySteps(seconds), fixed: false, spreadOverMs });
}

function stepsOf({ clock, fixed }: Expression, zone: Zone, rule: DstRule): Steps {
  return fixed ? new FixedSteps(clock, zone, rule) : new IntervalSteps(clock, zone);
}

function readZone(timeZone: string): Zone {
  // `Intl` also takes offsets like "+05:30"; a zone here is a name, so that its rules are known.
  try {
    if (typeof timeZone === 'string' && /^[A-Za-z]/.test(timeZone)) return zoneNamed(timeZone);
  } catch {
    // What `Intl` says of it ("Invalid time zone specified") is less than what follows.
  }
  throw new ScheduleTextError('timeZone', 'an IANA time zone such as "Europe/Berlin" or "UTC"');
}

function readRule({ gap = 'next-valid', repeat = 'first' }: Partial<DstRule> = {}): DstRule {
  if (!GAPS.includes(gap)) throw new ScheduleError('dst', `a gap of ${GAPS.join(', ')}, and not "${gap}"`);
  if (REPEATS.includes(repeat)) return { gap, repeat };
  throw new ScheduleError('dst', `a repeat of ${REPEATS.join(', ')}, and not "${repeat}"`);
}

/** Checks the shortest period, and keeps the spread below it: the next instant would come before this one is due. */
function readSpread(text: ScheduleText, shortest: (enough: number) => number): number {
  checkDistances(text);
  const { spreadMs = 0, minIntervalMs = 0 } = text;
  if (spreadMs === 0 && minIntervalMs === 0) return 0;
  const period = shortest(Math.max(spreadMs, minIntervalMs) / 1_000) * 1_000;
  if (period >= minIntervalMs) return Math.min(spreadMs, period);
  const [least, is] = [minIntervalMs / 1_000, period / 1_000];
  const what = isEvery(text.expression) ? 'an interval of' : 'an expression with';
  const between = isEvery(text.expression) ? '' : ' between instants';
  throw new ScheduleTextError('expression', `${what} at least ${least} s${between}, and not ${is} s`);
}

function checkDistances({ spreadMs = 0, minIntervalMs = 0 }: ScheduleText): void {
  for (const [part, value] of Object.entries({ spreadMs, minIntervalMs }) as ['spreadMs' | 'minIntervalMs', number][]) {
    if (!Number.isSafeInteger(value) || value < 0) throw new ScheduleError(part, 'a whole number of milliseconds');
  }
}

interface Parts {
  readonly steps: Steps;
  readonly fixed: boolean;
  readonly spreadOverMs: number;
}

class SteppedSchedule implements CronSchedule {
  readonly expression: string;
  readonly timeZone: string;
  readonly kind: 'fixed' | 'interval';
  readonly spreadMs: number;
  readonly spreadOverMs: number;
  readonly #steps: Steps;

  constructor({ expression, timeZone, seed }: ScheduleText, { steps, fixed, spreadOverMs }: Parts) {
    this.expression = expression;
    this.timeZone = timeZone;
    this.kind = fixed ? 'fixed' : 'interval';
    this.spreadMs = spreadOf(seed, spreadOverMs);
    this.spreadOverMs = spreadOverMs;
    this.#steps = steps;
  }

  next(after: number): number | null {
    if (!(Math.abs(after) <= LAST_MS)) return null;
    const from = Math.floor(after / 1_000) + 1;
    const found = this.#steps.atOrAfter(from, from + FIFTY_YEARS);
    return found === Infinity ? null : found * 1_000;
  }

  previous(before: number): number | null {
    if (!(Math.abs(before) <= LAST_MS)) return null;
    const to = Math.ceil(before / 1_000) - 1;
    const found = this.#steps.atOrBefore(to, to - FIFTY_YEARS);
    return found === -Infinity ? null : found * 1_000;
  }

  *between(from: number, to: number): Generator<number, void, undefined> {
    for (let at = this.next(Math.ceil(from) - 1); at !== null && at < to; at = this.next(at)) yield at;
  }
}

/**
 * How much later than its instants a cron is due: a whole number of milliseconds from 0 up to, but not, `spreadMs`. The
 * same for a name on every machine and for ever, since it comes from a hash; that of another name is as good as random.
 */
export function spreadOf(name: string, spreadMs: number): number {
  if (!(spreadMs >= 1)) return 0;
  const hash = createHash('sha256').update(`spread:${name}`).digest().readUIntBE(0, 6);
  // 48 bits: what the remainder favours is less than one in a million even for a spread of years.
  return hash % Math.floor(spreadMs);
}
