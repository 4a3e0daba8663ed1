import type { CronDefinition, Declaration } from '@fencepost/ledger/catalog';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What a worker process is started from. Two with the same content declare the same set of definitions. */
export interface Program {
  readonly app: AppName;
  /** Of its code, from 1: each has other definitions than the one before. */
  readonly code: number;
  /** Of its configuration, which decides about one schedule, and in one case leaves a cron out. */
  readonly config: number;
  /** A minute that the process chose when it was started; absent where none of its crons has one. */
  readonly minute?: number;
}

/** `billing` is a second program on the same stores; one of its crons has a name of `shop`. */
export type AppName = 'shop' | 'billing';

const USUAL: Omit<CronDefinition, 'name' | 'expression'> = {
  timeZone: 'UTC',
  misfire: 'fire-once',
  overlap: 'skip',
  graceMs: 5 * MINUTE,
  catchUpWindowMs: null,
};

/** The same in each code. */
const LASTING: readonly CronDefinition[] = [
  // A fixed time in the hour that a clock change takes away or repeats.
  {
    ...USUAL,
    ...{ name: 'nightly', expression: '30 2 * * *', timeZone: 'Europe/Berlin' },
    ...{ misfire: 'fire-all', catchUpWindowMs: 24 * HOUR },
  },
  {
    ...USUAL,
    ...{ name: 'steady', expression: '*/30 * * * *', timeZone: 'America/New_York' },
    ...{ overlap: 'replace', cancelGraceMs: 3 * MINUTE, graceMs: 2 * HOUR },
  },
  {
    ...USUAL,
    ...{ name: 'items', expression: '5 */2 * * *', overlap: 'queue-all' },
    // Of what is within its grace more may come due than may be made up for.
    ...{ misfire: 'fire-all', catchUpWindowMs: 8 * HOUR, maxCatchUp: 3, graceMs: 9 * HOUR },
  },
  {
    ...USUAL,
    ...{ name: 'crowd', expression: '*/40 * * * *', overlap: 'allow' },
    ...{ misfire: 'fire-all', catchUpWindowMs: 2 * HOUR, spreadMs: 5 * MINUTE },
  },
];

/** Of each code in turn. */
const CHANGING: readonly [CronDefinition[], CronDefinition[]] = [
  [
    { ...USUAL, name: 'half', expression: '*/30 * * * *', misfire: 'skip', maxConcurrency: 2 },
    { ...USUAL, name: 'coming', expression: '11 * * * *', overlap: 'queue-all' },
  ],
  [
    { ...USUAL, name: 'half', expression: '*/30 * * * *', misfire: 'skip', startDeadlineMs: 30 * MINUTE },
    { ...USUAL, name: 'leaving', expression: '7 * * * *', misfire: 'fire-all', catchUpWindowMs: 3 * HOUR },
  ],
];

function changing(code: number): readonly CronDefinition[] {
  const isOdd = code % 2 === 1;
  const hourly: CronDefinition = {
    ...USUAL,
    ...{ name: 'hourly', expression: `${(code * 20) % 60} * * * *`, overlap: 'queue-one' },
    misfire: isOdd ? 'fire-once' : 'fire-all',
  };
  return [hourly, ...CHANGING[isOdd ? 1 : 0], { ...USUAL, name: 'dated', expression: `${code % 60} 3,15 * * *` }];
}

const CONFIGS = 4;

function configured(config: number): readonly CronDefinition[] {
  const at = config % CONFIGS;
  return at === 0 ? [] : [{ ...USUAL, name: 'tuned', expression: `${10 * at} */3 * * *` }];
}

function atLoad(minute: number | undefined): readonly CronDefinition[] {
  return minute === undefined ? [] : [{ ...USUAL, name: 'at-load', expression: `${minute} */2 * * *` }];
}

/** The second app has a name of a cron that each second code of the first one has. */
const BILLING: readonly CronDefinition[] = [
  { ...USUAL, name: 'invoices', expression: '13 */2 * * *', overlap: 'queue-one' },
  { ...USUAL, name: 'leaving', expression: '37 * * * *' },
];

const BY_CODE = [...changing(1), ...changing(2)];
const ALL = [...LASTING, ...BY_CODE, ...configured(1), ...atLoad(0), ...BILLING];

/** Every name that any program declares. */
export const CRONS: readonly string[] = [...new Set(ALL.map(({ name }) => name))];

function definitionsOf({ app, code, config, minute }: Program): readonly CronDefinition[] {
  if (app === 'billing') return BILLING;
  return [...LASTING, ...changing(code), ...configured(config), ...atLoad(minute)];
}

/** What a process of this program declares when it boots. */
export function declarations(program: Program): Declaration[] {
  return definitionsOf(program).map((definition) => ({ definition, disabled: false }));
}

/** Of the programs that know the cron, the shortest. */
export function graceOf(cron: string): number {
  const all = ALL.filter(({ name }) => name === cron);
  return Math.min(...all.map(({ graceMs, startDeadlineMs = Infinity }) => Math.min(graceMs, startDeadlineMs)));
}

/** By the name of an effect, or of the items of a `forEach`: whether a person is to say when nobody knows. */
export function isAsked(effect: string): boolean {
  return effect.startsWith('ask');
}
