import { skipCover } from '../audit/skip-cover.js';
import { withoutRun } from './why-absence.js';
import { ofRun } from './why-run.js';
import { generationSteps, scheduleSteps, storeClockSteps } from './why-schedule.js';
import type { InstantFacts, Verdict, WhyFacts, WhyReport } from './why.js';

/**
 * Why a cron ran at a time, or why it did not: what its schedule and the clocks say, which definition was in force, what
 * stood in the way, who acted, and what came of it. Pure: the same facts give the same answer.
 */
export function explain(facts: WhyFacts): WhyReport {
  const { context, report } = facts;
  const range = skipCover(facts.account.skips)(context.at);
  const instantFacts: InstantFacts = { ...facts, cron: facts.entry.definition.name, range };
  const found: Verdict = report ? ofRun(instantFacts, report.run) : withoutRun(instantFacts);
  return {
    ...{ cron: instantFacts.cron, at: context.at, verdict: found.verdict, answer: found.answer },
    steps: [
      ...storeClockSteps(instantFacts),
      ...scheduleSteps(instantFacts),
      ...generationSteps(instantFacts),
      ...found.steps,
    ],
    ...{ run: report, neighbours: context.neighbours },
  };
}
