import type { CronDefinition, Declaration } from '@fencepost/ledger/catalog';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Which of the two builds a process is of. */
export type BuildNumber = 1 | 2;

const USUAL: Omit<CronDefinition, 'name' | 'expression'> = {
  timeZone: 'UTC',
  misfire: 'fire-once',
  overlap: 'skip',
  graceMs: 5 * MINUTE,
  catchUpWindowMs: null,
};

/** The same in both builds. */
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

const CHANGING: Readonly<Record<BuildNumber, readonly CronDefinition[]>> = {
  1: [
    { ...USUAL, name: 'hourly', expression: '0 * * * *', overlap: 'queue-one' },
    { ...USUAL, name: 'half', expression: '*/30 * * * *', misfire: 'skip', startDeadlineMs: 30 * MINUTE },
    { ...USUAL, name: 'leaving', expression: '7 * * * *', misfire: 'fire-all', catchUpWindowMs: 3 * HOUR },
  ],
  2: [
    { ...USUAL, name: 'hourly', expression: '20 * * * *', overlap: 'queue-one', misfire: 'fire-all' },
    { ...USUAL, name: 'half', expression: '*/30 * * * *', misfire: 'skip', maxConcurrency: 2 },
    { ...USUAL, name: 'coming', expression: '11 * * * *', overlap: 'queue-all' },
  ],
};

/** What the processes of a build declare when they boot. */
export function declarations(build: BuildNumber): Declaration[] {
  return [...LASTING, ...CHANGING[build]].map((definition) => ({ definition, disabled: false }));
}

/** Of the builds that know the cron, the shortest. */
export function graceOf(cron: string): number {
  const all = [...LASTING, ...CHANGING[1], ...CHANGING[2]].filter(({ name }) => name === cron);
  return Math.min(...all.map(({ graceMs, startDeadlineMs = Infinity }) => Math.min(graceMs, startDeadlineMs)));
}

/** By the name of an effect, or of the items of a `forEach`: whether a person is to say when nobody knows. */
export function isAsked(effect: string): boolean {
  return effect.startsWith('ask');
}
