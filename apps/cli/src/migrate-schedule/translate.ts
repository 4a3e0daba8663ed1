import { CRON_NAME, isEvery, parseSchedule, zoneOfOffset } from '../jobs.js';

/** A value in the source: how it is written, and what it is, where that can be told without running the program. */
export interface Written {
  readonly text: string;
  readonly value: string | number | boolean | undefined;
}

/** A decorator of `@nestjs/schedule` at a method. */
export interface ScheduleDecorator {
  readonly kind: 'Cron' | 'Interval' | 'Timeout';
  readonly className: string;
  readonly method: string;
  readonly args: readonly Written[];
  /** The first argument makes a date: the method runs once. */
  readonly isDate: boolean;
  /** Each load of the file may come to another first argument. */
  readonly isVarying: boolean;
  /** The options as they are written; `null` for options that are no plain object literal. */
  readonly options: ReadonlyMap<string, Written> | null;
}

/** What takes its place. `decorator: null`: it stays as it is, and `decide` says why. */
export interface Translation {
  readonly name: string;
  readonly decorator: string | null;
  /** What a person has to decide, as comments above the decorator. */
  readonly decide: readonly string[];
}

export interface TranslateOptions {
  /** For crons that name no zone: they ran in the zone of the machine. */
  readonly timeZone: string;
  readonly quote: (text: string) => string;
  /** The names that are taken; each translation adds its own. */
  readonly names: Set<string>;
}

/** Of a class that only says what it is. */
const ROLE = /(Service|Provider|Controller|Jobs?|Tasks?|Crons?|Scheduler)$/;

/** How a cron could be called: after its class and its method, and as no other. */
function proposedName({ className, method }: ScheduleDecorator, names: ReadonlySet<string>): string {
  const words = [className.replace(ROLE, '') || className, method].map(kebab).filter((word) => word !== '');
  const base = (words.join('-') || 'cron').slice(0, 90);
  let name = base;
  for (let n = 2; names.has(name); n += 1) name = `${base}-${n}`;
  return name;
}

function kebab(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3-$2$4')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .toLowerCase();
}

export function translate(found: ScheduleDecorator, options: TranslateOptions): Translation {
  switch (found.kind) {
    case 'Cron':
      return translateCron(found, options);
    case 'Interval':
      return translateInterval(found, options);
    case 'Timeout':
      return left(
        'runs once in each pod, after its start. Keep it, move it to onApplicationBootstrap, or, for once in all pods, ' +
          'call Jobs.enqueue with a delay and an idempotencyKey.',
      );
  }
}

function left(...decide: string[]): Translation {
  return { name: '', decorator: null, decide };
}

const NOT_LITERAL = 'its options are not an object literal. Write them out, or translate this one by hand.';

const VARYING =
  'has a schedule that is computed when the file is loaded, so pods may declare different ones. To spread load, write a fixed ' +
  'schedule with H, such as "H * * * *", or use the option spread.';

function translateCron(found: ScheduleDecorator, given: TranslateOptions): Translation {
  const [expression] = found.args;
  if (found.isDate) {
    return left('runs once, at a date. A cron has no single date: call Jobs.enqueue with runAt and an idempotencyKey.');
  }
  if (expression === undefined || found.options === null) return left(NOT_LITERAL);
  const wrong = invalid(expression.value);
  if (wrong !== null) return left(wrong);
  const { parts, decide, refused } = translateOptions(found.options, given);
  if (refused !== null) return left(refused);
  const name = nameOf(found, found.options.get('name'), given);
  const text = typeof expression.value === 'string' ? given.quote(expression.value) : expression.text;
  const list = [`name: ${given.quote(name)}`, ...parts];
  const all = found.isVarying ? [...decide, VARYING] : decide;
  return { name, decorator: `SingletonCron(${text}, { ${list.join(', ')} })`, decide: all };
}

/** `null` for an expression that is right, and for one that is only known at run time. */
function invalid(expression: Written['value']): string | null {
  if (typeof expression !== 'string') return null;
  try {
    parseSchedule({ expression, timeZone: 'UTC', seed: 'cron' }, Date.now());
    return null;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return `has an expression that Fencepost does not read. ${detail}`;
  }
}

function nameOf(found: ScheduleDecorator, written: Written | undefined, { names }: TranslateOptions): string {
  const given = String(written?.value ?? '').replaceAll(/[^A-Za-z0-9._-]+/g, '-');
  const name = CRON_NAME.test(given) && !names.has(given) ? given : proposedName(found, names);
  names.add(name);
  return name;
}

interface Options {
  readonly parts: readonly string[];
  readonly decide: readonly string[];
  readonly refused: string | null;
}

function translateOptions(options: ReadonlyMap<string, Written>, given: TranslateOptions): Options {
  const [parts, decide] = [[] as string[], [] as string[]];
  let refused: string | null = null;
  if (!options.has('timeZone') && !options.has('utcOffset') && given.timeZone !== 'UTC') {
    parts.push(`timeZone: ${given.quote(given.timeZone)}`);
  }
  for (const [option, written] of options) {
    const rule = RULES[option];
    const result: Ruling = rule
      ? rule(written, given)
      : { decide: `had the option "${option}", which is not known here.` };
    if (result.part) parts.push(result.part);
    if (result.decide) decide.push(result.decide);
    if (result.refuse) refused ??= result.refuse;
  }
  return { parts, decide, refused };
}

interface Ruling {
  readonly part?: string;
  readonly decide?: string;
  /** It can't be translated. */
  readonly refuse?: string;
}

const RULES: Readonly<Record<string, (written: Written, given: TranslateOptions) => Ruling>> = {
  name: ({ value }) =>
    value === undefined ? { decide: 'had a name that is made at run time; this one is a proposal.' } : {},
  timeZone: ({ text }) => ({ part: `timeZone: ${text}` }),
  utcOffset: ({ value }, { quote }) => {
    const zone = typeof value === 'number' ? zoneOfOffset(value) : null;
    if (zone !== null) return { part: `timeZone: ${quote(zone)}` };
    return {
      refuse: 'has a utcOffset that no time zone stands for. Choose a timeZone, such as "Asia/Kolkata" for 330.',
    };
  },
  disabled: ({ text }) => ({ part: `disabled: ${text}` }),
  unrefTimeout: () => ({}),
  waitForCompletion: ({ value, text }) => {
    if (value === true) return {};
    if (value === false) return { part: `overlap: 'allow'` };
    return {
      decide: `had waitForCompletion: ${text}. overlap is 'skip' now, as with true; with false it was 'allow'.`,
    };
  },
  threshold: ({ value, text }) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 86_400_000
      ? { part: `grace: '${value}ms', misfire: 'skip'` }
      : { decide: `had threshold: ${text}. Give the same as grace, with its unit, and misfire: 'skip'.` },
  initialDelay: ({ text }) => ({
    decide: `had initialDelay: ${text}. Instants before the first start are never made up for; wait in the handler for what it needs.`,
  }),
};

function translateInterval(found: ScheduleDecorator, given: TranslateOptions): Translation {
  const { args } = found;
  const period = args.at(-1);
  const interval = typeof period?.value === 'number' ? intervalOf(period.value) : null;
  if (interval === null) {
    return left(
      `runs every ${period?.text ?? '?'} ms in each pod. Fencepost's intervals are whole seconds from '1s' to '365d', known when the ` +
        'program is compiled: choose one as every, or keep this one.',
    );
  }
  const name = nameOf(found, args.length > 1 ? args[0] : undefined, given);
  const decorator = `SingletonCron({ name: ${given.quote(name)}, every: ${given.quote(interval)} })`;
  return { name, decorator, decide: [] };
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `90000` is `90s`; `null` for what no interval is. */
function intervalOf(ms: number): string | null {
  const [unit, length] = UNITS.find(([, unitMs]) => ms % unitMs === 0) ?? ['ms', Number.NaN];
  const text = `${ms / length}${unit}`;
  const expression = `@every ${text}`;
  return isEvery(expression) && invalid(expression) === null ? text : null;
}
