import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CronDefinition, CronState } from '@fencepost/ledger/catalog';
import { CRON, PlanningStage, begun, told } from '../support/planning-stage.js';
import { atMost } from '../support/run-length.js';
import { instantsOf, recount } from '../support/recount.js';

type Step =
  | { readonly kind: 'serve' | 'outage' | 'deaf'; readonly ms: number }
  | { readonly kind: 'change'; readonly over: Partial<CronDefinition>; readonly state: CronState }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'clock'; readonly aheadMs: number };

async function happen(stage: PlanningStage, one: Step): Promise<void> {
  switch (one.kind) {
    case 'serve':
      return stage.serve(one.ms);
    case 'outage':
      return stage.outage(one.ms);
    case 'deaf':
      // It hears nothing of the catalog for so long.
      stage.freshness.heardAt = stage.clock.now();
      await stage.serve(one.ms);
      stage.freshness.heardAt = null;
      return;
    case 'change':
      return void stage.redefine(one.over, one.state);
    case 'pause':
      await stage.memoryLedger.pause(CRON, { by: 'me', reason: 'x', until: stage.clock.now() + one.ms + 1 });
      return;
    case 'clock':
      stage.podAheadMs = one.aheadMs;
      await stage.take();
  }
}

/** Up to where all has to be accounted for: what a spread puts off, and what comes after it, may be due later. */
async function accountedFor(stage: PlanningStage): Promise<number> {
  return (await stage.memoryLedger.readCron(CRON)).cursor ?? stage.start;
}

describe('whatever happens to a cron and to its pods', () => {
  const duration = fc.oneof(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: 0, max: 90_000 }));

  const policies: fc.Arbitrary<Partial<CronDefinition>> = fc.record({
    expression: fc.constantFrom('* * * * * *', '*/3 * * * * *', '7 * * * * *', '0 0 * * * *', 'H H * * *'),
    misfire: fc.constantFrom('skip', 'fire-once', 'fire-all'),
    overlap: fc.constantFrom('skip', 'queue-one', 'queue-all', 'replace', 'allow'),
    graceMs: fc.integer({ min: 0, max: 10_000 }),
    catchUpWindowMs: fc.option(fc.integer({ min: 0, max: 120_000 }), { nil: null }),
    maxCatchUp: fc.integer({ min: 1, max: 30 }),
    spreadMs: fc.constantFrom(0, 700, 20_000),
  });

  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constantFrom('serve' as const, 'outage' as const, 'deaf' as const), ms: duration }),
    fc.record({
      kind: fc.constant('change' as const),
      over: policies,
      state: fc.constantFrom<CronState>('active', 'active', 'disabled', 'removed'),
    }),
    fc.record({ kind: fc.constant('pause' as const), ms: duration }),
    fc.record({ kind: fc.constant('clock' as const), aheadMs: fc.constantFrom(0, -20, 30, -300_000, 300_000, 2_500) }),
  );

  it('every instant is accounted for once, for the generation it belongs to', async () => {
    await fc.assert(
      fc.asyncProperty(policies, fc.nat(1_500), fc.array(step, { maxLength: 14 }), async (over, lagMs, steps) => {
        const stage = new PlanningStage();
        stage.freshness.lagMs = lagMs;
        stage.declare(over);
        await stage.take();
        for (const one of steps) await happen(stage, one);
        stage.podAheadMs = 0;
        await stage.take();
        await stage.serve(45_000);
        const end = await accountedFor(stage);
        await recount(stage.memoryLedger, stage.entry(), end);
        // Nothing that came more than the longest spread ago is left over.
        const left = instantsOf(stage.entry(), stage.clock.now() - 20_000).filter(({ at }) => at > end);
        expect(left).toEqual([]);
        expect(stage.events.of('store.failed')).toEqual([]);
      }),
      atMost(300),
    );
  });
});

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

describe('a year of a daily cron, with nobody there while the clocks change', () => {
  it.each([
    ['Europe/Berlin', '30 2 * * *', ['2030-03-31T01:00Z', '2030-10-27T01:00Z']],
    ['Australia/Lord_Howe', '15 2 * * *', ['2030-04-06T15:00Z', '2030-10-05T15:30Z']],
    ['Australia/Lord_Howe', '45 1 * * *', ['2030-04-06T15:00Z', '2030-10-05T15:30Z']],
  ])('in %s at "%s" runs once on each of its 365 days', async (timeZone, expression, changes) => {
    const stage = new PlanningStage();
    stage.declare({ timeZone, expression });
    await stage.take();
    for (const change of changes) {
      await stage.serve(Date.parse(change) - 90 * MINUTE - stage.clock.now());
      // Back just after it, where the second copy of the hour is still to come.
      await stage.outage(95 * MINUTE);
    }
    await stage.serve(Date.UTC(2031, 0, 1) - stage.clock.now());
    expect(await told(stage)).toEqual({ ran: 365 });
    const day = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
    const days = (await stage.memoryLedger.runs(CRON, 400)).map(({ scheduledAt }) => day.format(scheduledAt));
    expect(new Set(days).size).toBe(365);
  });
});

describe('five thousand crons at midnight', () => {
  it('are claimed and enqueued in bulk, each once', async () => {
    const stage = new PlanningStage({ startsAt: Date.UTC(2030, 0, 1, 23, 59, 30) });
    const names = Array.from({ length: 5_000 }, (_, n) => `daily-${n}`);
    for (const name of names) stage.declare({ name, expression: '0 0 * * *' });
    await stage.take();
    await stage.serve(2 * MINUTE);
    const calls = (name: string) => stage.ledger.calls.filter((call) => call === name).length;
    expect([calls('claimAll'), calls('confirm'), stage.queue.calls.length]).toEqual([1, 1, 1]);
    for (const name of names) {
      expect(await recount(stage.memoryLedger, stage.entry(name), stage.clock.now())).toEqual({ ran: 1 });
    }
  });
});

describe('exactly at an instant', () => {
  const at = (stage: PlanningStage, second: number) => stage.start + second * 1_000;
  const ran = async (stage: PlanningStage) =>
    (await stage.memoryLedger.runs(CRON, 100))
      .map(({ scheduledAt, generation }) => [(scheduledAt - stage.start) / 1_000, generation])
      .toReversed();

  it('a change leaves it to the former definition, and nothing to both', async () => {
    const stage = await begun({});
    stage.redefine({ graceMs: 1 }, 'active', at(stage, 6));
    await stage.serve(4_000);
    expect(await ran(stage)).toEqual([...[1, 2, 3, 4, 5, 6].map((second) => [second, 1]), [7, 2]]);
    expect(await told(stage)).toEqual({ ran: 7 });
  });

  it('a removal leaves it to run, and a return begins after it', async () => {
    const stage = await begun({});
    stage.redefine({}, 'removed', at(stage, 5));
    stage.redefine({}, 'active', at(stage, 8));
    await stage.serve(7_000);
    expect(await ran(stage)).toEqual([...[1, 2, 3, 4, 5].map((second) => [second, 1]), [9, 3], [10, 3]]);
    expect(await told(stage)).toEqual({ ran: 7 });
  });

  it('many changes at once give it to one of them', async () => {
    const stage = await begun({});
    for (let n = 0; n < 5; n += 1) stage.redefine({ graceMs: n }, 'active', at(stage, 6));
    await stage.serve(5_000);
    expect(await ran(stage)).toEqual([...[1, 2, 3, 4, 5, 6].map((second) => [second, 1]), [7, 6], [8, 6]]);
    expect(await told(stage)).toEqual({ ran: 8 });
  });
});

describe('pods whose clocks are five minutes off', () => {
  it.each([
    ['* * * * * *', 30 * SECOND],
    ['* * * * *', 30 * MINUTE],
    ['*/10 * * * *', 2 * HOUR],
  ])('take turns over "%s", and every instant runs once', async (expression, turnMs) => {
    const stage = new PlanningStage();
    stage.declare({ expression, catchUpWindowMs: 30 * 24 * HOUR });
    for (const podAheadMs of [5 * MINUTE, -5 * MINUTE, 0, -5 * MINUTE, 5 * MINUTE]) {
      stage.podAheadMs = podAheadMs;
      await stage.take();
      await stage.serve(turnMs);
    }
    expect(await told(stage)).toEqual({ ran: instantsOf(stage.entry(), stage.clock.now()).length });
    const late = (await stage.memoryLedger.runs(CRON, 1_000)).map(({ claimedAt, dueAt }) => claimedAt - dueAt);
    expect(Math.max(...late)).toBeLessThanOrEqual(1_000);
  });
});
