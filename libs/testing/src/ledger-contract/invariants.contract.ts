import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTerminal, type Run } from '@fencepost/ledger/run';
import { isGivenUp, KnownRuns } from './known-runs.js';
import type { Manner } from './scheduler-model.js';
import { Stage, type MakeLedgerHarness } from './stage.js';
import { SchedulerModel } from './scheduler-model.js';
import { WorkerModel } from './worker-model.js';

type Step = readonly [name: string, act: (model: Model) => Promise<void> | void];

const index = fc.nat({ max: 30 });
const who = fc.nat({ max: 2 });
const effect = fc.constantFrom('mail', 'invoice', 'charge');
const request = fc.constantFrom(
  { name: 'mail', ifUnknown: 'go' } as const,
  { name: 'invoice', ifUnknown: 'go', payloadHash: 'a' } as const,
  { name: 'charge', ifUnknown: 'tell' } as const,
  { name: 'charge', ifUnknown: 'tell' } as const,
);
const unresolvedEffect = { effect: 'charge', item: null, unknownReason: 'lost', since: 0 } as const;
const outcome = fc.constantFrom(
  { kind: 'succeeded' } as const,
  { kind: 'failed', error: 'it broke' } as const,
  { kind: 'cancelled', error: 'told to' } as const,
  { kind: 'uncertain', error: 'nobody knows', unresolvedEffect } as const,
  { kind: 'retry', error: 'again', delayMs: 0 } as const,
  { kind: 'retry', error: 'again', delayMs: 0 } as const,
);
const answer = fc.constantFrom('done', 'not-done', 'not-done', 'give-up' as const);
const rarely = fc.nat({ max: 7 }).map((n) => n === 0);
const manner = fc.record({
  overlap: fc.constantFrom('allow', 'allow', 'skip', 'queue-one', 'queue-all', 'replace' as const),
  maxConcurrency: fc.constantFrom(1, 1, 2),
  late: rarely,
  ruthless: fc.boolean(),
  twice: fc.boolean(),
}) satisfies fc.Arbitrary<Manner>;

const scheduling: fc.Arbitrary<Step> = fc.oneof(
  who.map((n): Step => [`elect ${n}`, ({ schedulers }) => schedulers.elect(n)]),
  who.map((n): Step => [`${n} reads the cursor`, ({ schedulers }) => schedulers.readCursor(n)]),
  ...[1, 2].map(() =>
    fc.tuple(who, fc.integer({ min: 1, max: 3 }), manner).map(([n, ahead, how]): Step => {
      const name = `${n} claims +${ahead} ${JSON.stringify(how)}`;
      return [name, ({ schedulers }) => schedulers.claim(n, ahead, how)];
    }),
  ),
  manner.map((how): Step => [`trigger ${JSON.stringify(how)}`, ({ schedulers }) => schedulers.trigger(how)]),
  rarely.map((pauses): Step => {
    return pauses
      ? ['pause', ({ schedulers }) => schedulers.pause()]
      : ['resume', ({ schedulers }) => schedulers.resume()];
  }),
);

/** Attempts and runs are picked by number, so that most are stale sooner or later. */
const working: fc.Arbitrary<Step> = fc.oneof(
  index.map((n): Step => [`confirm ${n}`, ({ workers }) => workers.confirm(n)]),
  ...[1, 2].map(() =>
    fc.tuple(index, fc.boolean()).map(([n, twice]): Step => [`begin ${n}`, ({ workers }) => workers.begin(n, twice)]),
  ),
  fc
    .tuple(index, fc.boolean())
    .map(([n, twice]): Step => [`redeliver ${n}`, ({ workers }) => workers.redeliver(n, twice)]),
  fc
    .tuple(index, fc.boolean())
    .map(([n, last]): Step => [
      `heartbeat ${n}${last ? ', the last' : ''}`,
      ({ workers }) => workers.heartbeat(n, last),
    ]),
  fc
    .tuple(index, outcome, fc.boolean())
    .map(([n, how, twice]): Step => [`finish ${n} ${how.kind}`, ({ workers }) => workers.finish(n, how, twice)]),
  fc.tuple(index, fc.boolean(), fc.boolean()).map(([n, ruthless, twice]): Step => {
    return [`cancel ${n}${ruthless ? ' at once' : ''}`, ({ workers }) => workers.cancel(n, ruthless, twice)];
  }),
  fc.tuple(index, request, fc.boolean()).map(([n, what, twice]): Step => {
    return [`begin ${what.name} ${n}`, ({ workers }) => workers.beginEffect(n, what, twice)];
  }),
  fc
    .tuple(index, effect, fc.boolean())
    .map(([n, name, twice]): Step => [`finish ${name} ${n}`, ({ workers }) => workers.finishEffect(n, name, twice)]),
  fc
    .tuple(index, effect, fc.boolean())
    .map(([n, name, twice]): Step => [`fail ${name} ${n}`, ({ workers }) => workers.failEffect(n, name, twice)]),
  fc.tuple(index, answer, fc.boolean()).map(([n, verdict, twice]): Step => {
    return [`resolve ${n} ${verdict}`, ({ workers }) => workers.resolve(n, verdict, twice)];
  }),
);

/** One call by somebody. */
const step = fc.oneof({ weight: 2, arbitrary: scheduling }, { weight: 3, arbitrary: working });

const steps = fc.array(
  step.map(([name, act]) => Object.assign(act, { toString: () => name })),
  { minLength: 1, maxLength: 60 },
);

/**
 * The invariants, over random histories of three schedulers and any number of workers: one run per instant, no gap up to
 * the cursor, fences that only go up, only the current attempt changes a run, an end is an end, a done stays, and what is
 * asked about is not begun twice. FC_SEED replays the histories of a `seed` that a failure has printed.
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
      const { FC_SEED: seed } = process.env;
      await fc.assert(property, { numRuns, ...(seed ? { seed: Number(seed) } : {}) });
    });
  });
}

/** I1, I2: up to the cursor each instant has one run, or lies in one range that was recorded. */
async function everyInstantIsAccountedFor(stage: Stage, model: Model): Promise<void> {
  const runs = await stage.ledger.runs(stage.cron, 1_000);
  const skips = await stage.ledger.skips(stage.cron, 1_000);
  for (let n = 1; n <= model.schedulers.cursor; n += 1) {
    const instant = stage.instant(n);
    const owners = runs.filter(({ scheduledAt }) => scheduledAt === instant).length;
    const ranges = skips.filter(({ after, through }) => after < instant && instant <= through).length;
    expect(owners + ranges).toBe(1);
  }
  expect(runs).toHaveLength(model.runs.size);
}

function isWatched({ state }: Run): boolean {
  return !isTerminal(state) && state !== 'uncertain';
}

/** I9: once every worker is silent, the sweep finds each run that is not over, and delivers it or ends it. */
async function everyOpenRunIsDeliveredAgain(stage: Stage, model: Model): Promise<void> {
  await model.runs.lapseAll();
  await stage.harness.advance(3);
  const { runs: found, watched } = await stage.overdue(1);
  const open = (await stage.ledger.runs(stage.cron, 1_000)).filter(isWatched);
  expect(watched).toBe(open.length);
  expect(found.map(({ runId }) => runId).toSorted()).toEqual(open.map(({ id }) => id).toSorted());
  for (const { runId, delivery } of found) {
    const again = isGivenUp(model.runs.of(runId)) ? null : { runId, delivery: delivery + 1 };
    expect(await stage.ledger.redeliver({ runId, delivery }, `last ${runId}`)).toEqual(again);
    expect(isTerminal((await stage.run(runId)).state)).toBe(again === null);
  }
}

/** Drives one cron through its ledger and knows what has to come out; each call may be sent twice, as after a lost reply. */
class Model {
  readonly runs: KnownRuns;
  readonly schedulers: SchedulerModel;
  readonly workers: WorkerModel;

  constructor(stage: Stage) {
    this.runs = new KnownRuns(stage);
    this.schedulers = new SchedulerModel(stage, this.runs);
    this.workers = new WorkerModel(stage, this.runs);
  }

  /** What has to be true after every call. */
  async check(): Promise<void> {
    await this.runs.check();
    await this.schedulers.check();
  }
}
