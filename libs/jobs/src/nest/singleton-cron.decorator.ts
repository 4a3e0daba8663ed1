import type { CronPing, MisfirePolicy } from '@fencepost/ledger/catalog';
import type { OverlapPolicy } from '@fencepost/ledger/run';
import type { DstRule, CronLiteral, ZoneLiteral } from '@fencepost/schedule';
import type { NameOfClass } from './cron-name.js';
import { decorateWith } from './decorated-methods.js';
import type { ContextOf, HandlerDecorator, HandlerOptions } from './handler-options.js';

/** What a cron or a job says of itself to people: no run depends on it. */
export interface SaidOptions {
  /**
   * What people group crons by in lists, bulk orders, alert rules and metrics: at most 10, each of 1 to 40 of `a-z`, `0-9` and
   * `. _ -`; default: none.
   */
  readonly tags?: readonly string[];
  /** What it is for, in 1 to 500 characters; line breaks become spaces. Lists, the page and notifications show it. */
  readonly description?: string;
  /** The team or person to turn to, in 1 to 80 characters. */
  readonly owner?: string;
  /** What to do when it fails: an `http` or `https` address of at most 500 characters, without credentials and without `@`. */
  readonly runbookUrl?: string;
}

/** Durations are texts such as `'30s'`, or milliseconds. */
export interface SingletonCronOptions extends HandlerOptions, SaidOptions {
  /**
   * Names the cron in every process, store and log: 1 to 100 letters, digits or `. _ -`. A function computes it from the class of
   * the provider, `(type) => type.name`, so that each subclass has a cron of its own.
   */
  readonly name: string | NameOfClass;
  /** IANA name; default `UTC`, never the zone of the machine. */
  readonly timeZone?: string;
  /** Where clocks change, for a schedule with one plain number in second, minute and hour. The others count elapsed time. */
  readonly dst?: {
    /** A time that doesn't exist comes at the first valid instant after the gap, not at all, or as much later; default `'next-valid'`. */
    readonly gap?: DstRule['gap'];
    /** Which of a time that comes twice; default `'first'`. */
    readonly repeat?: DstRule['repeat'];
  };
  /**
   * Over how long crons of the same expression are spread; default `'0ms'`. From the name, and the same each time: run
   * ids keep the nominal instant, and `dueAt` is up to this much later, but less than the shortest period.
   */
  readonly spread?: string | number;
  /** A schedule whose instants may be closer than this is refused at boot; default `'0ms'`: none is. */
  readonly minInterval?: string | number;
  /** Declares the cron without firing it; default `false`. */
  readonly disabled?: boolean;
  /**
   * What happens with instants that were not enqueued in time; default `'fire-once'`: the latest one stands for all.
   * `'fire-all'` makes up for each, the oldest first; `'skip'` for none.
   */
  readonly misfire?: MisfirePolicy;
  /** With `'fire-all'`: how many missed instants are made up for at the most, the newest ones; 1 to 1,000, default 20. */
  readonly maxCatchUp?: number;
  /**
   * What happens while `maxConcurrency` runs are still going; default `'skip'`: the instant doesn't run. `'queue-one'`: it
   * waits, in the place of one that waited already. `'queue-all'`: it waits in line, at most 100 do. `'replace'`: the older
   * run is cancelled. `'allow'`: both run.
   */
  readonly overlap?: OverlapPolicy;
  /** How many runs may be going at once before `overlap` applies, which can't be `'allow'` then; 1 to 1,000, default 1. */
  readonly maxConcurrency?: number;
  /** With `'replace'`: how long the older run has to stop by itself, before nothing it does counts any more; default `'30s'`. */
  readonly cancelGrace?: string | number;
  /**
   * Later than this after it was due, an occurrence counts as late; default `'60s'`. An instant within its grace is never left
   * out as `misfire`: it runs, or is merged into the run of a later one.
   */
  readonly grace?: string | number;
  /**
   * How far back missed instants are made up for, unless `misfire` is `'skip'`; default: one period or `grace`, whichever is
   * longer, at most `'24h'`. A window shorter than `grace` counts as that long.
   */
  readonly catchUpWindow?: string | number;
  /** A run that no worker has begun so long after it was due is skipped as `misfire`; default: it waits as long as it takes. */
  readonly startDeadline?: string | number;
  /**
   * An alarm is raised when it has not succeeded for so long, by any run, `'1s'` to `'3650d'`; default: none. A cron that is
   * paused or disabled raises none, and is counted anew after it.
   */
  readonly expectEvery?: string | number;
  /** An alarm is raised when an instant has no run that has ended so long after it was due, `'1s'` to `'7d'`; default: none. */
  readonly lateAfter?: string | number;
  /**
   * Addresses that are called with `GET`, `http` or `https`: when a run has succeeded, has failed for good, waits for a person,
   * and when an alarm says that an instant is missed or late, which needs `expectEvery` or `lateAfter` beside it.
   */
  readonly ping?: CronPing;
  /** What each run gets as `run.payload`, unless it is triggered with another one; JSON must keep all of it. Default `null`. */
  readonly payload?: unknown;
}

/** An interval instead of a cron expression; a time zone and its clock changes have nothing to do with it. */
export interface EveryOptions extends Omit<SingletonCronOptions, 'timeZone' | 'dst'> {
  /** A whole number and its unit, `'1s'` to `'365d'`: at each multiple of it since 1970-01-01T00:00:00Z. */
  readonly every: string;
}

/**
 * A value that is only known at boot, such as one from `ConfigService`. The function is called once, with the provider whose method
 * is decorated. If it returns `undefined`, the process refuses to start.
 */
export type AtBoot<Self, Value> = (self: Self) => Value | undefined;

/** Options of both forms that may be functions. */
interface OptionsAtBoot<Self> {
  readonly disabled?: boolean | AtBoot<Self, boolean>;
}

/**
 * Runs a method of a provider at each instant of a schedule: once, on one of all the replicas.
 *
 * `@SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })`; `CronExpression` of
 * `@nestjs/schedule` is accepted. `@SingletonCron({ name: 'poll', every: '30s' })` runs at each multiple of an interval. The
 * method receives a {@link RunContext}. A method may have several, each with a name of its own, and other decorators above and below.
 *
 * The expression, `every`, `timeZone` and `disabled` may also be functions of the provider, which are called once at boot:
 * `@SingletonCron((self: Reports) => self.config.get('REPORT_CRON'), { name: 'nightly-report' })`.
 *
 * An expression or a zone that stands in the source and can't be is an error of the compiler; everything else, and what is
 * only known at run time, is checked at boot.
 */
export function SingletonCron<
  const Expression extends string,
  const TimeZone extends string = string,
  const Transactions extends boolean = false,
  Self = object,
>(
  expression: CronLiteral<Expression> | AtBoot<Self, string>,
  options: Omit<SingletonCronOptions, 'timeZone' | 'disabled'> &
    OptionsAtBoot<Self> & {
      readonly timeZone?: ZoneLiteral<TimeZone> | AtBoot<Self, string>;
      readonly transactions?: Transactions;
    },
): HandlerDecorator<ContextOf<Transactions>, Self>;
/** Runs a method at each multiple of an interval: `@SingletonCron({ name: 'poll', every: '30s' })`. */
export function SingletonCron<const Transactions extends boolean = false, Self = object>(
  options: Omit<EveryOptions, 'every' | 'disabled'> &
    OptionsAtBoot<Self> & { readonly every: string | AtBoot<Self, string>; readonly transactions?: Transactions },
): HandlerDecorator<ContextOf<Transactions>, Self>;
export function SingletonCron(...given: readonly unknown[]): MethodDecorator {
  const [expression, options] = given.length === 1 && typeof given[0] === 'object' ? [undefined, given[0]] : given;
  return decorateWith({ called: '@SingletonCron', metadata: { expression, options } });
}
