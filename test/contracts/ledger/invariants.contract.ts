import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTerminal } from '../../../libs/jobs/src/ledger/run-state.js';
import { Model } from './model.js';
import { Stage, type MakeLedgerHarness } from './stage.js';

type Step = readonly [name: string, act: (model: Model) => Promise<void> | void];

const index = fc.nat({ max: 30 });
const who = fc.nat({ max: 2 });
const effect = fc.constantFrom('mail', 'invoice');
const outcome = fc.constantFrom(
  { kind: 'succeeded' } as const,
  { kind: 'failed', error: 'it broke' } as const,
  { kind: 'retry', error: 'again', delayMs: 0 } as const,
  { kind: 'retry', error: 'again', delayMs: 0 } as const,
);

/** One call by somebody. Attempts and runs are picked by number, so that most are stale sooner or later. */
const step: fc.Arbitrary<Step> = fc.oneof(
  who.map((n): Step => [`elect ${n}`, (model) => model.elect(n)]),
  who.map((n): Step => [`${n} reads the cursor`, (model) => model.readCursor(n)]),
  fc
    .tuple(who, fc.integer({ min: 1, max: 3 }), fc.record({ skip: fc.boolean(), twice: fc.boolean() }))
    .map(([n, ahead, over]): Step => [`${n} claims +${ahead}`, (model) => model.claim(n, ahead, over)]),
  index.map((n): Step => [`confirm ${n}`, (model) => model.confirm(n)]),
  fc.tuple(index, fc.boolean()).map(([n, twice]): Step => [`begin ${n}`, (model) => model.begin(n, twice)]),
  fc.tuple(index, fc.boolean()).map(([n, twice]): Step => [`redeliver ${n}`, (model) => model.redeliver(n, twice)]),
  fc
    .tuple(index, fc.boolean())
    .map(([n, silent]): Step => [`heartbeat ${n}${silent ? ', the last' : ''}`, (model) => model.heartbeat(n, silent)]),
  fc
    .tuple(index, outcome, fc.boolean())
    .map(([n, how, twice]): Step => [`finish ${n} ${how.kind}`, (model) => model.finish(n, how, twice)]),
  fc
    .tuple(index, effect, fc.boolean())
    .map(([n, name, twice]): Step => [`begin ${name} ${n}`, (model) => model.beginEffect(n, name, twice)]),
  fc
    .tuple(index, effect, fc.boolean())
    .map(([n, name, twice]): Step => [`finish ${name} ${n}`, (model) => model.finishEffect(n, name, twice)]),
);

const steps = fc.array(
  step.map(([name, act]) => Object.assign(act, { toString: () => name })),
  { minLength: 1, maxLength: 60 },
);

/**
 * The invariants, over random histories of three schedulers and any number of workers: one run per instant, no gap up to
 * the cursor, fences that only go up, only the current attempt changes a run, an end is an end, a done stays.
 */
export function invariantsContract(makeHarness: MakeLedgerHarness, numRuns: number): void {
  describe('whatever several schedulers and workers do, in any order', () => {
    it('keeps the invariants', async () => {
      const property = fc.asyncProperty(steps, async (history) => {
        const stage = await Stage.of(makeHarness, { recoverMs: 1, sweepMs: 1 });
        const model = new Model(stage);
        for (const act of history) {
          await act(model);
          await model.check();
        }
        await everyInstantIsAccountedFor(stage, model);
        await everyOpenRunIsDeliveredAgain(stage, model);
      });
      await fc.assert(property, { numRuns });
    });
  });
}

/** I1, I2: up to the cursor each instant has one run, or lies in one range that was recorded. */
async function everyInstantIsAccountedFor(stage: Stage, model: Model): Promise<void> {
  const runs = await stage.ledger.runs(stage.cron, 1_000);
  const skips = await stage.ledger.skips(stage.cron, 1_000);
  for (let n = 1; n <= model.cursor; n += 1) {
    const instant = stage.instant(n);
    const owners = runs.filter(({ scheduledAt }) => scheduledAt === instant).length;
    const ranges = skips.filter(({ after, through }) => after < instant && instant <= through).length;
    expect(owners + ranges).toBe(1);
  }
  expect(runs).toHaveLength(model.runs.size);
}

/** I9: once every worker is silent, the sweep finds each run that is not over, and has something to deliver. */
async function everyOpenRunIsDeliveredAgain(stage: Stage, model: Model): Promise<void> {
  await model.lapseAll();
  await stage.harness.advance(3);
  const found = await stage.ledger.overdue(stage.cron, 1);
  const open = (await stage.ledger.runs(stage.cron, 1_000)).filter(({ state }) => !isTerminal(state));
  expect(found.map(({ runId }) => runId).toSorted()).toEqual(open.map(({ id }) => id).toSorted());
  for (const { runId, delivery } of found) {
    expect(await stage.ledger.redeliver({ runId, delivery }, `last ${runId}`)).toEqual({
      runId,
      delivery: delivery + 1,
    });
  }
}
