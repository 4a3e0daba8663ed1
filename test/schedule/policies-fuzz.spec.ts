import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CronDefinition, CronState } from '../../libs/ledger/src/catalog/definition.js';
import { CRON, PlanningStage } from '../support/planning-stage.js';
import { atMost } from '../support/run-length.js';
import { instantsOf, recount } from '../support/recount.js';

type Step =
  | { readonly kind: 'serve' | 'outage' | 'deaf'; readonly ms: number }
  | { readonly kind: 'change'; readonly over: Partial<CronDefinition>; readonly state: CronState }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'clock'; readonly aheadMs: number };

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
    state: fc.constantFrom<CronState>('firing', 'firing', 'disabled', 'removed'),
  }),
  fc.record({ kind: fc.constant('pause' as const), ms: duration }),
  fc.record({ kind: fc.constant('clock' as const), aheadMs: fc.constantFrom(0, -20, 30, -300_000, 300_000, 2_500) }),
);

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
