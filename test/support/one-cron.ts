import type { CronDefinition } from '@fencepost/ledger/catalog';
import { holdCron, type HeldCron } from '@fencepost/jobs/internal/scheduling';
import type { DispatchResult } from '../../libs/jobs/src/scheduling/dispatcher.js';
import { CRON, leaseOf, PlanningStage, type PlanningStageOptions } from './planning-stage.js';
import { recount, type Tally } from './recount.js';

/** A cron in its first second, held. */
export async function oneCron(over: Partial<CronDefinition> = {}, options: PlanningStageOptions = {}) {
  const stage = new PlanningStage(options);
  stage.declare(over);
  await stage.take();
  await stage.clock.advance(1_000);
  const held = heldIn(stage);
  const at = (second: number) => stage.start + second * 1_000;
  const dispatch = (...crons: HeldCron[]): Promise<DispatchResult[]> =>
    stage.dispatcher.dispatch(crons.length === 0 ? [held] : crons);
  return { stage, held, at, dispatch, idOf: (second: number) => `${CRON}@${at(second)}` };
}

function heldIn(stage: PlanningStage, name = CRON): HeldCron {
  const held = stage.held.get(name);
  if (!held) throw new Error(`Expected ${name} to be held.`);
  return held;
}

/** Another cron, as if it were held by the same pod since the start of the stage. */
export function another(stage: PlanningStage, over: Partial<CronDefinition> = {}): HeldCron {
  const entry = stage.declare({ name: 'other', ...over });
  const held = holdCron({ ...entry, since: stage.start }, leaseOf('other', 1));
  held.known = true;
  return held;
}

/** Seconds since the start of every run of the cron, oldest first. */
export async function ran(stage: PlanningStage, cron = CRON): Promise<number[]> {
  const runs = await stage.memoryLedger.runs(cron, 100_000);
  return runs.map(({ scheduledAt }) => (scheduledAt - stage.start) / 1_000).toReversed();
}

/** What the ledger of a stage tells of one cron, up to now. */
export async function told(stage: PlanningStage): Promise<Tally> {
  return recount(stage.memoryLedger, stage.entry(), stage.clock.now());
}

/** Three seconds of a cron that fires each second, and half of one. */
export async function begun(over: Partial<CronDefinition>): Promise<PlanningStage> {
  const stage = new PlanningStage();
  stage.declare(over);
  await stage.take();
  await stage.serve(3_500);
  return stage;
}
