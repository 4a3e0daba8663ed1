import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Run } from '@fencepost/ledger/run';
import type { WhyReport } from '@fencepost/operations';
import { anyRule, PATIENCE_MS } from '../../../../test/schedule/random-expression.js';
import { atMost } from '../../../../test/support/run-length.js';
import { FIRST, ZONES } from '../../../../test/schedule/zones.js';
import { actArbitrary, cronArbitrary, WhyHistory, scheduleOf } from './why-history.stage.js';
import { localOf } from '../../../../test/schedule/wall-oracle.js';
import { instantsShowing, offsetAt, shownAt } from '../../../../test/truth/intl-clocks.js';

/* What is true of a time, from `Intl`, the ledger and what the cron was told to be: nothing here asks the code that explains. */

const SECOND = 1_000;
const MINUTE = 60_000;

/** The instant of the cron in a second, by the generation in force then; `null` for none. */
function instantIn(history: WhyHistory, second: number): number | null {
  const generation = history.ruling(second);
  if (generation?.state !== 'active') return null;
  const [instant = null] = scheduleOf(generation).between(second, second + SECOND);
  return instant;
}

const ABSENT = ['no-instant', 'gap', 'repeat', 'manual', 'unborn', 'disabled', 'removed', 'clock-behind'];
const ENDS: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['ran', 'late', 'retried'],
  failed: ['failed'],
  running: ['running'],
  claimed: ['waiting'],
  enqueued: ['waiting'],
  orphaned: ['waiting'],
};

/** What the answer says that isn't so, and what it keeps to itself. */
async function contradictions(history: WhyHistory, asked: number | string, report: WhyReport): Promise<string[]> {
  return [
    ...clocks(history, [report.answer, ...report.steps.map(({ text }) => text)].join('\n')),
    ...clockVerdicts(history, report),
    ...meant(history, asked, report),
    ...(await records(history, report)),
    ...membership(history, report),
  ];
}

/** Each local time that "does not exist", or is shown twice, is asked of `Intl`. */
function clocks({ timeZone }: WhyHistory, text: string): string[] {
  const found: string[] = [];
  for (const [, wall = ''] of text.matchAll(/\w{3} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) does not exist/g)) {
    const shown = instantsShowing(timeZone, wallFrom(wall));
    if (shown.length > 0) found.push(`${wall} exists in ${timeZone}`);
  }
  for (const [, wall = ''] of text.matchAll(/show \w{3} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) twice/g)) {
    if (instantsShowing(timeZone, wallFrom(wall)).length < 2) found.push(`${wall} comes once in ${timeZone}`);
  }
  return found;
}

function wallFrom(text: string): number {
  return Date.parse(`${text.replace(' ', 'T')}Z`);
}

function clockVerdicts({ timeZone }: WhyHistory, { at, verdict }: WhyReport): string[] {
  if (verdict !== 'gap' && verdict !== 'repeat') return [];
  const samples = Array.from({ length: 2 * 26 * 4 }, (_, n) => offsetAt(timeZone, at + (n - 104) * 15 * MINUTE));
  return new Set(samples).size > 1 ? [] : [`clocks in ${timeZone} don't change around ${new Date(at).toISOString()}`];
}

/** The time that was asked about is the one that is answered. */
function meant(history: WhyHistory, asked: number | string, { at, verdict }: WhyReport): string[] {
  const seconds = secondsOf(history, asked);
  const instants = seconds.map((second) => instantIn(history, second)).filter((instant) => instant !== null);
  const [instant] = instants;
  if (instant === undefined) {
    const isNear = seconds.length === 0 || seconds.some((second) => at >= second && at < second + SECOND);
    return isNear ? [] : [`${new Date(at).toISOString()} is not what was asked about`];
  }
  if (ABSENT.includes(verdict)) return [`the cron has an instant there, ${new Date(instant).toISOString()}`];
  return instants.includes(at) || at % SECOND !== 0
    ? []
    : [`the instant that is meant is ${new Date(instant).toISOString()}`];
}

function secondsOf({ timeZone }: WhyHistory, asked: number | string): number[] {
  if (typeof asked === 'number') return [Math.floor(asked / SECOND) * SECOND];
  if (asked.endsWith('Z')) return [Math.floor(Date.parse(asked) / SECOND) * SECOND];
  return instantsShowing(timeZone, wallFrom(asked));
}

/** What the ledger has of the time that was answered. */
async function records(history: WhyHistory, { at, verdict, run, steps }: WhyReport): Promise<string[]> {
  const { runs, skips } = await history.ledger.account(history.cron, at, at + 1);
  const recorded = runs.findLast(({ scheduledAt }) => scheduledAt === at);
  const { cursor } = await history.ledger.readCron(history.cron);
  const found: string[] = [];
  if (recorded) found.push(...ofRun(recorded, verdict, run?.run ?? null));
  const range = skips.find(({ after, through }) => after < at && at <= through);
  const isInstant = instantIn(history, at) === at;
  if (!recorded && run) found.push('there is no such run');
  if (!recorded && range && isInstant && verdict !== range.reason) found.push(`it was skipped: ${range.reason}`);
  const isAccountedFor = cursor !== null && at <= cursor;
  if (isAccountedFor && ['due', 'will-run', 'will-not-run'].includes(verdict)) found.push('it is accounted for');
  if (verdict === 'missed') found.push('nothing was lost');
  const isBehind = cursor !== null && cursor > history.now + 2 * SECOND * 2;
  const saysSo = steps.some(({ text }) => text.includes('clock went back'));
  if (isBehind && !saysSo) found.push(`the store's clock is behind the cursor`);
  return found;
}

function ofRun({ id, state, skipped }: Run, verdict: string, told: Run | null): string[] {
  if (told?.id !== id && told?.scheduledAt === undefined) return [`there is the run ${id}`];
  const right = state === 'skipped' ? [skipped] : (ENDS[state] ?? [state]);
  return right.includes(verdict as never) ? [] : [`the run ${id} is ${state} (${skipped})`];
}

/** Whether it is an instant at all, by what the cron was told to be and what clocks show. */
function membership(history: WhyHistory, { at, verdict, run }: WhyReport): string[] {
  const second = Math.floor(at / SECOND) * SECOND;
  const generation = history.ruling(second);
  const first = history.generations[0]!;
  if (verdict === 'unborn' && (generation !== undefined || first.since > history.now + 2 * SECOND)) {
    return [
      `the cron is known since ${new Date(first.since).toISOString()}, and it is ${new Date(history.now).toISOString()}`,
    ];
  }
  if (verdict === 'disabled' && history.ruling(at)?.state !== 'disabled') return ['it is not disabled'];
  if (run || verdict !== 'no-instant' || generation?.state !== 'active') return [];
  const told = history.told[generation.generation - 1]!;
  const wall = shownAt(history.timeZone, second);
  const isShownOnce = instantsShowing(history.timeZone, wall).length === 1;
  return isShownOnce && told.says(localOf(wall)) ? ['the expression says that it is an instant'] : [];
}

const DAY_MS = 86_400_000;
const SPAN_MS = 65 * 365 * DAY_MS;

const scenario = fc.record({
  timeZone: fc.oneof(fc.constantFrom(...ZONES), fc.constantFrom('Australia/Lord_Howe', 'Europe/Berlin', 'UTC')),
  near: fc.integer({ min: 0, max: SPAN_MS }).map((ms) => FIRST + 400 * DAY_MS + ms),
  rule: anyRule,
  crons: fc.array(cronArbitrary, { minLength: 1, maxLength: 3 }),
  acts: fc.array(actArbitrary, { minLength: 3, maxLength: 12 }),
  backMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 4 * 86_400_000 })),
  questions: fc.array(
    fc.record({
      about: fc.constantFrom('instant', 'change', 'now', 'birth', 'cursor', 'anywhere'),
      offsetMs: fc.oneof(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -7_200_000, max: 7_200_000 })),
      pick: fc.nat(),
      as: fc.constantFrom('number', 'iso', 'local'),
    }),
    { minLength: 8, maxLength: 8 },
  ),
});

describe('whatever a cron, its zone, its history and the time asked about are', () => {
  it(
    'why contradicts neither the ledger, nor the instants of the schedule, nor what Intl says of the clocks',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ questions, ...told }) => {
          const history = await WhyHistory.play(told);
          for (const question of questions) {
            const asked = history.phrase(question);
            const report = await history.service.why(history.cron, asked);
            expect(
              await contradictions(history, asked, report),
              `${asked}: ${report.verdict}, ${report.answer}`,
            ).toEqual([]);
          }
        }),
        atMost(150),
      );
    },
    PATIENCE_MS,
  );
});
