import { describe, expect, it } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { begun, told, CRON, PlanningStage } from '../support/planning-stage.js';
import type { Tally } from '../support/recount.js';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const WEEK = 7 * DAY;
const WIDE = { catchUpWindowMs: 30 * DAY };
/** Longer than a period. */
const PATIENT = { graceMs: MINUTE };
/** Shorter than a period. */
const GRACE_MS = 900;

const POLICIES: Readonly<Record<string, Partial<CronDefinition>>> = {
  skip: { misfire: 'skip' },
  'fire-once': { misfire: 'fire-once' },
  'fire-once, wide': { misfire: 'fire-once', ...WIDE },
  'fire-all': { misfire: 'fire-all' },
  'fire-all, wide': { misfire: 'fire-all', ...WIDE },
  'skip, patient': { misfire: 'skip', ...PATIENT },
  'fire-once, patient': { misfire: 'fire-once', ...PATIENT },
  'fire-all, patient': { misfire: 'fire-all', ...PATIENT },
};

/** Its instants, and how long before its fourth one the outage begins. */
const CRONS = {
  second: { expression: '* * * * * *', periodMs: SECOND, beforeMs: 500, graceMs: GRACE_MS },
  minute: { expression: '* * * * *', periodMs: MINUTE, beforeMs: 2 * SECOND, graceMs: 59 * SECOND },
  day: { expression: '0 0 * * *', periodMs: DAY, beforeMs: 2 * SECOND, graceMs: MINUTE },
} as const;

/** What became of the instants of the outage: how many ran, are `misfire`, are `merged`. Runs overlap freely. */
const OUTAGES: readonly (readonly [keyof typeof CRONS, string, number, string, number, number, number])[] = [
  ['second', '3 s', 3 * SECOND, 'skip', 1, 2, 0],
  ['second', '3 s', 3 * SECOND, 'fire-once', 1, 2, 0],
  ['second', '3 s', 3 * SECOND, 'fire-once, wide', 1, 0, 2],
  ['second', '3 s', 3 * SECOND, 'fire-all', 1, 2, 0],
  ['second', '3 s', 3 * SECOND, 'fire-all, wide', 3, 0, 0],
  ['second', '10 s', 10 * SECOND, 'skip', 1, 9, 0],
  ['second', '10 s', 10 * SECOND, 'fire-once', 1, 9, 0],
  ['second', '10 s', 10 * SECOND, 'fire-once, wide', 1, 0, 9],
  ['second', '10 s', 10 * SECOND, 'fire-all', 1, 9, 0],
  ['second', '10 s', 10 * SECOND, 'fire-all, wide', 10, 0, 0],
  ['second', '1 min', MINUTE, 'skip', 1, 59, 0],
  ['second', '1 min', MINUTE, 'fire-once', 1, 59, 0],
  ['second', '1 min', MINUTE, 'fire-once, wide', 1, 0, 59],
  ['second', '1 min', MINUTE, 'fire-all', 1, 59, 0],
  ['second', '1 min', MINUTE, 'fire-all, wide', 21, 39, 0],
  ['second', '1 h', HOUR, 'skip', 1, 3_599, 0],
  ['second', '1 h', HOUR, 'fire-once', 1, 3_599, 0],
  ['second', '1 h', HOUR, 'fire-once, wide', 1, 2_599, 1_000],
  ['second', '1 h', HOUR, 'fire-all', 1, 3_599, 0],
  ['second', '1 h', HOUR, 'fire-all, wide', 21, 3_579, 0],
  ['second', 'a week', WEEK, 'skip', 1, 604_799, 0],
  ['second', 'a week', WEEK, 'fire-once', 1, 604_799, 0],
  ['second', 'a week', WEEK, 'fire-once, wide', 1, 603_799, 1_000],
  ['second', 'a week', WEEK, 'fire-all', 1, 604_799, 0],
  ['second', 'a week', WEEK, 'fire-all, wide', 21, 604_779, 0],
  ['second', '10 s', 10 * SECOND, 'skip, patient', 1, 0, 9],
  ['second', '10 s', 10 * SECOND, 'fire-once, patient', 1, 0, 9],
  ['second', '10 s', 10 * SECOND, 'fire-all, patient', 10, 0, 0],
  ['second', '1 min', MINUTE, 'fire-all, patient', 21, 0, 39],
  ['second', '1 h', HOUR, 'fire-once, patient', 1, 3_540, 59],
  ['second', '1 h', HOUR, 'fire-all, patient', 21, 3_540, 39],
  ['minute', '3 s', 3 * SECOND, 'skip', 1, 0, 0],
  ['minute', '3 s', 3 * SECOND, 'fire-once', 1, 0, 0],
  ['minute', '3 s', 3 * SECOND, 'fire-all', 1, 0, 0],
  ['minute', '10 s', 10 * SECOND, 'skip', 1, 0, 0],
  ['minute', '10 s', 10 * SECOND, 'fire-once', 1, 0, 0],
  ['minute', '10 s', 10 * SECOND, 'fire-all', 1, 0, 0],
  ['minute', '1 min', MINUTE, 'skip', 1, 0, 0],
  ['minute', '1 min', MINUTE, 'fire-once', 1, 0, 0],
  ['minute', '1 min', MINUTE, 'fire-all', 1, 0, 0],
  ['minute', '1 h', HOUR, 'skip', 1, 59, 0],
  ['minute', '1 h', HOUR, 'fire-once', 1, 59, 0],
  ['minute', '1 h', HOUR, 'fire-once, wide', 1, 0, 59],
  ['minute', '1 h', HOUR, 'fire-all', 1, 59, 0],
  ['minute', '1 h', HOUR, 'fire-all, wide', 21, 39, 0],
  ['minute', 'a week', WEEK, 'skip', 1, 10_079, 0],
  ['minute', 'a week', WEEK, 'fire-once', 1, 10_079, 0],
  ['minute', 'a week', WEEK, 'fire-once, wide', 1, 9_079, 1_000],
  ['minute', 'a week', WEEK, 'fire-all', 1, 10_079, 0],
  ['minute', 'a week', WEEK, 'fire-all, wide', 21, 10_059, 0],
  ['day', '3 s', 3 * SECOND, 'skip', 1, 0, 0],
  ['day', '10 s', 10 * SECOND, 'fire-once', 1, 0, 0],
  ['day', '1 min', MINUTE, 'skip', 1, 0, 0],
  ['day', '1 min', MINUTE, 'fire-all', 1, 0, 0],
  ['day', '1 h', HOUR, 'skip', 0, 1, 0],
  ['day', '1 h', HOUR, 'fire-once', 1, 0, 0],
  ['day', '1 h', HOUR, 'fire-all', 1, 0, 0],
  ['day', 'a week', WEEK, 'skip', 0, 7, 0],
  ['day', 'a week', WEEK, 'fire-once', 1, 6, 0],
  ['day', 'a week', WEEK, 'fire-once, wide', 1, 0, 6],
  ['day', 'a week', WEEK, 'fire-all', 1, 6, 0],
  ['day', 'a week', WEEK, 'fire-all, wide', 7, 0, 0],
];

/** What is zero is left out, as in a recount. */
function tally(of: Tally): Tally {
  return Object.fromEntries(Object.entries(of).filter(([, count]) => count > 0));
}

describe('after an outage', () => {
  it.each(OUTAGES.map(([cron, name, outageMs, policy, ...fates]) => ({ cron, name, outageMs, policy, fates })))(
    'a cron of each $cron, out for $name, with $policy: of those missed [ran, misfire, merged] $fates, each instant once',
    async ({ cron, outageMs, policy, fates: [ran, misfire, merged] }) => {
      const { expression, periodMs, beforeMs, graceMs } = CRONS[cron];
      const stage = new PlanningStage();
      stage.declare({ expression, graceMs, ...POLICIES[policy] });
      await stage.take();
      await stage.serve(4 * periodMs - beforeMs);
      await stage.outage(outageMs);
      await stage.serve(3 * periodMs);
      expect(await told(stage)).toEqual(tally({ ran: 6 + ran, misfire, merged }));
      expect((await stage.memoryLedger.skips(CRON, 100)).length).toBeLessThanOrEqual(2);
    },
  );
});

/**
 * Ten seconds without pods, of sixteen, and nobody who carries a run out: all that is claimed waits. With `queue-one` the
 * first one keeps the place it was given, and the newest waits behind it.
 */
const OVERLAPS: readonly (readonly [string, CronDefinition['overlap'], Tally])[] = [
  ['skip', 'skip', { ran: 1, overlap: 6, misfire: 9 }],
  ['skip', 'allow', { ran: 7, misfire: 9 }],
  ['skip', 'queue-one', { ran: 2, superseded: 5, misfire: 9 }],
  ['skip', 'queue-all', { ran: 7, misfire: 9 }],
  ['skip', 'replace', { ran: 1, superseded: 6, misfire: 9 }],
  ['fire-once, wide', 'skip', { ran: 1, overlap: 6, merged: 9 }],
  ['fire-once, wide', 'allow', { ran: 7, merged: 9 }],
  ['fire-once, wide', 'queue-one', { ran: 2, superseded: 5, merged: 9 }],
  ['fire-once, wide', 'queue-all', { ran: 7, merged: 9 }],
  ['fire-once, wide', 'replace', { ran: 1, superseded: 6, merged: 9 }],
  ['fire-all, wide', 'skip', { ran: 10, overlap: 6 }],
  ['fire-all, wide', 'allow', { ran: 16 }],
  ['fire-all, wide', 'queue-one', { ran: 2, superseded: 14 }],
  ['fire-all, wide', 'queue-all', { ran: 16 }],
  ['fire-all, wide', 'replace', { ran: 1, superseded: 15 }],
];

describe('after ten seconds of a cron that fires each second', () => {
  it.each(OVERLAPS)('with %s and overlap %s: %j', async (policy, overlap, expected) => {
    const stage = await begun({ graceMs: GRACE_MS, ...POLICIES[policy], overlap });
    await stage.outage(10_000);
    await stage.serve(3_000);
    expect(await told(stage)).toEqual(expected);
  });

  it('what is made up for runs one after the other, oldest first', async () => {
    const stage = new PlanningStage({ runForMs: 2_000 });
    stage.declare({ expression: '* * * * *', misfire: 'fire-all', overlap: 'skip', ...WIDE });
    await stage.take();
    await stage.serve(90_000);
    await stage.outage(10 * MINUTE);
    await stage.serve(5 * MINUTE);
    expect(await told(stage)).toEqual({ ran: 15, overlap: 1 });
    const runs = (await stage.memoryLedger.runs(CRON, 100)).toReversed().filter(({ skipped }) => skipped === null);
    runs.forEach(({ state, startedAt }, n) => {
      expect(state).toBe('succeeded');
      expect(startedAt).toBeGreaterThanOrEqual(runs[n - 1]?.finishedAt ?? 0);
    });
  });
});

describe('while nobody was there', () => {
  const rows: readonly (readonly [string, (stage: PlanningStage) => Promise<void>, Readonly<Record<string, Tally>>])[] =
    [
      [
        'the cron was paused until two seconds after it',
        async (stage) => {
          await stage.memoryLedger.pause(CRON, { by: 'me', reason: 'x', until: stage.start + 15_200 });
          await stage.outage(10_000);
        },
        {
          skip: { ran: 4, merged: 9, paused: 3 },
          'fire-once, wide': { ran: 4, merged: 9, paused: 3 },
          'fire-all, wide': { ran: 4, paused: 12 },
        },
      ],
      [
        'the cron was paused, and resumed before anybody was back',
        async (stage) => {
          await stage.memoryLedger.pause(CRON, { by: 'me', reason: 'x', until: null });
          await stage.clock.advance(5_000);
          await stage.memoryLedger.resume(CRON);
          await stage.outage(5_000);
        },
        {
          skip: { ran: 7, merged: 9 },
          'fire-once, wide': { ran: 7, merged: 9 },
          'fire-all, wide': { ran: 16 },
        },
      ],
      [
        'the cron was changed to every other second',
        async (stage) => {
          await stage.clock.advance(4_000);
          stage.redefine({ expression: '*/2 * * * * *' });
          await stage.outage(6_000);
        },
        {
          skip: { ran: 7, merged: 6 },
          'fire-once, wide': { ran: 7, merged: 6 },
          'fire-all, wide': { ran: 13 },
        },
      ],
      [
        'the cron was disabled, and enabled again',
        async (stage) => {
          await stage.clock.advance(4_000);
          stage.redefine({}, 'disabled');
          await stage.clock.advance(3_000);
          stage.redefine({});
          await stage.outage(3_000);
        },
        {
          skip: { ran: 8, merged: 5 },
          'fire-once, wide': { ran: 8, merged: 5 },
          'fire-all, wide': { ran: 13 },
        },
      ],
      [
        'the cron was removed',
        async (stage) => {
          await stage.clock.advance(4_000);
          stage.redefine({}, 'removed');
          await stage.outage(6_000);
        },
        {
          skip: { ran: 4, merged: 5 },
          'fire-once, wide': { ran: 4, merged: 5 },
          'fire-all, wide': { ran: 9 },
        },
      ],
    ];

  it.each(
    rows.flatMap(([what, happen, byPolicy]) =>
      Object.entries(byPolicy).map(([policy, expected]) => ({ what, policy, expected, happen })),
    ),
  )('$what, with $policy: $expected', async ({ policy, expected, happen }) => {
    const stage = await begun({ ...POLICIES[policy] });
    stage.held.clear();
    await happen(stage);
    await stage.serve(3_000);
    expect(await told(stage)).toEqual(expected);
  });
});
