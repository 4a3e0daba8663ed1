import type { ZoneName } from './zone-names.js';

/*
 * What stands in the source is checked by the compiler: each field has its values, names and steps, and a zone has a name
 * that exists. Never refused is what is accepted at boot; there everything is checked that is more than that, such as a
 * range that falls or a 30th of February.
 */

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
type Positive = Exclude<Digit, '0'>;
type From1To9 = Positive | `0${Positive}`;
type From0To9 = Digit | `0${Digit}`;

type Sixty = From0To9 | `${'1' | '2' | '3' | '4' | '5'}${Digit}`;
type Hours = From0To9 | `1${Digit}` | `2${'0' | '1' | '2' | '3'}`;
type Days = From1To9 | `${'1' | '2'}${Digit}` | '30' | '31';
type Months = From1To9 | `1${'0' | '1' | '2'}`;
type Weekdays = Exclude<From0To9, '8' | '08' | '9' | '09'>;

interface Field {
  readonly name: string;
  /** Numbers, and names in lower case. */
  readonly values: string;
  /** What may stand alone beside them, and not in a range. */
  readonly alone: string;
  readonly steps: string;
  readonly range: string;
}

interface Clock<Name> extends Field {
  readonly name: Name & string;
  readonly values: Sixty;
  readonly alone: never;
  readonly steps: Exclude<Sixty, '0' | '00'> | '60';
  readonly range: '0 to 59';
}

interface Hour extends Field {
  readonly name: 'hour';
  readonly values: Hours;
  readonly alone: never;
  readonly steps: Exclude<Hours, '0' | '00'> | '24';
  readonly range: '0 to 23';
}

interface Day extends Field {
  readonly name: 'day-of-month';
  readonly values: Days;
  readonly alone: 'l';
  readonly steps: Days;
  readonly range: '1 to 31';
}

type MonthName = 'jan' | 'feb' | 'mar' | 'apr' | 'may' | 'jun' | 'jul' | 'aug' | 'sep' | 'oct' | 'nov' | 'dec';

interface Month extends Field {
  readonly name: 'month';
  readonly values: Months | MonthName;
  readonly alone: never;
  readonly steps: Months;
  readonly range: '1 to 12 or JAN to DEC';
}

type Weekday = Weekdays | 'sun' | 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat';

interface DayOfWeek extends Field {
  readonly name: 'day-of-week';
  readonly values: Weekday;
  readonly alone: `${Weekday}l` | `${Weekday | 'h'}#${'1' | '2' | '3' | '4' | '5'}`;
  readonly steps: Exclude<Weekdays, '0' | '00'>;
  readonly range: '0 to 7 or SUN to SAT';
}

type FiveFields = readonly [Clock<'minute'>, Hour, Day, Month, DayOfWeek];

type SixFields = readonly [Clock<'second'>, ...FiveFields];

type Shorthand =
  | '@yearly'
  | '@annually'
  | '@monthly'
  | '@weekly'
  | '@daily'
  | '@hourly'
  | '@minutely'
  | '@secondly'
  | '@weekdays'
  | '@weekends'
  | '@manual';

/** `true` for a text that is only known at run time, wholly or in parts. */
type IsOpen<Text extends string> = Partial<Record<Text, unknown>> extends Record<Text, unknown> ? true : false;

type Split<Text extends string, By extends string> = Text extends `${infer First}${By}${infer Rest}`
  ? [First, ...Split<Rest, By>]
  : [Text];

/** What stands between spaces, however many. */
type Words<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First extends ''
    ? Words<Rest>
    : [First, ...Words<Rest>]
  : Text extends ''
    ? []
    : [Text];

/** Everything, a range, or `H`, which may stand before a step, or one value. */
type IsBase<F extends Field, Text> = Text extends '*' | '?' | 'h' | F['values']
  ? true
  : Text extends `h(${infer Range})`
    ? IsRange<F, Range>
    : IsRange<F, Text>;

type IsRange<F extends Field, Text> = Text extends `${infer From}-${infer To}`
  ? [From, To] extends [F['values'], F['values']]
    ? true
    : false
  : false;

type IsAtom<F extends Field, Text> = Text extends F['alone']
  ? true
  : Text extends `${infer Base}/${infer Step}`
    ? Step extends F['steps']
      ? IsBase<F, Base>
      : false
    : IsBase<F, Text>;

type AreAtoms<F extends Field, Atoms> = Atoms extends [infer First, ...infer Rest]
  ? IsAtom<F, First> extends true
    ? AreAtoms<F, Rest>
    : false
  : true;

/** The first field that is wrong, as a sentence; `never` when none is. */
type Wrong<Given, Expected> = Given extends [infer Text extends string, ...infer Others]
  ? Expected extends readonly [infer F extends Field, ...infer Next]
    ? AreAtoms<F, Split<Lowercase<Text>, ','>> extends true
      ? Wrong<Others, Next>
      : `the ${F['name']} field takes values from ${F['range']}, not "${Text}"`
    : never
  : never;

type Problem<Given extends readonly string[]> = Given['length'] extends 6
  ? Wrong<Given, SixFields>
  : Given['length'] extends 5
    ? Wrong<Given, FiveFields>
    : Given extends [Shorthand] | ['@every', `${bigint}${'s' | 'm' | 'h' | 'd'}`]
      ? never
      : 'expected a cron expression of 5 or 6 fields, or one like "@daily"';

type Judged<Text extends string, Sentence extends string> = [Sentence] extends [never] ? Text : Sentence;

/**
 * A cron expression as it stands in the source, or the sentence that says what is wrong with it. A text that is only known
 * at run time passes, and is checked at boot.
 */
export type CronLiteral<Text extends string> = Text extends unknown
  ? IsOpen<Text> extends true
    ? Text
    : `${Text}` extends `${string}${'\t' | '\n' | '\r'}${string}`
      ? Text
      : Judged<Text, Problem<Words<`${Text}`>>>
  : never;

/** A time zone as it stands in the source, or a sentence; for one that is newer than this list: `name as string`. */
export type ZoneLiteral<Text extends string> = Text extends unknown
  ? IsOpen<Text> extends true
    ? Text
    : Lowercase<Text> extends Lowercase<ZoneName>
      ? Text
      : `expected an IANA time zone such as "Europe/Berlin" or "UTC", not "${Text}"`
  : never;
