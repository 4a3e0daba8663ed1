import type { LeaseStore } from '@fencepost/lease';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Account, Delivery, OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import { knownCron, type PodRegistry, type QueueLimits } from '@fencepost/jobs/internal';
import type { Journal } from '../journal/journal.js';
import type { ValidityInterval } from '../audit/validity-intervals.js';
import { reportOf, type RunReport } from './run-report.js';
import { accountAround } from './why-account.js';
import { instantInSecond, meantTime, validityIntervalsOfEntry, contextOf } from './why-context.js';
import { readWhen } from './why-when.js';
import { step, type InstantFacts, type Verdict, type WhyFacts, type WhyReport, type WhyStep } from './why.js';
import { isMeant, standstillsOf } from '../alarms/standstills.js';
import { skipCover } from '../audit/skip-cover.js';
import { withoutRun } from './why-absence.js';
import { ofRun } from './why-run.js';
import { generationSteps, scheduleSteps, storeClockSteps } from './why-schedule.js';

export interface WhyPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<RunHistory, 'account' | 'effects' | 'items'> & Pick<OccurrenceLog, 'readCron'>;
  /** Who paused and resumed the cron. */
  readonly trail: Pick<AuditTrail, 'list'>;
  /** What pods have told lately; without one the answer is made of the records alone. */
  readonly journal?: Pick<Journal, 'ofCron'>;
  /** Without one nobody is asked who holds the lease now. */
  readonly leases?: Pick<LeaseStore, 'inspect'>;
  /** Pods report which crons stand still. Without them, nothing is said of it. */
  readonly pods?: Pick<PodRegistry, 'list'>;
  /** What is set on the queue that a run waits in. Without it, nobody is asked. */
  readonly queueLimits?: (delivery: Delivery) => Promise<readonly QueueLimits[]>;
}

const MAX_ORDERS = 100;
const MAX_HEARD = 200;

/** Answers why a cron ran at a time, or why it did not. It reads, and changes nothing. */
export class ExplainService {
  constructor(private readonly ports: WhyPorts) {}

  /**
   * @param when epoch milliseconds; or an ISO 8601 instant, a local time of the cron's zone such as `2026-03-29 02:30`,
   *   `now`, or `last` for the last instant that was due
   * @throws {UnknownCronError} with names that are like it
   * @throws {OperatorInputError} for a time that is none
   */
  async why(cron: string, when: string | number): Promise<WhyReport> {
    const meant = readWhen(when);
    const { entry, now } = await knownCron(this.ports.catalog, cron);
    const intervals = validityIntervalsOfEntry(entry);
    const { at: exact, asked } = meantTime(meant, intervals, now);
    const at = await this.#instant(cron, exact, intervals);
    const context = contextOf(at, intervals);
    const { account, ...known } = await this.#read(cron, at, intervals);
    const report = await this.#report(account, at);
    const queues = await this.#queues(report);
    return explain({ entry, context, asked, now, account, report, queues, ...known });
  }

  async #queues(report: RunReport | null): Promise<readonly QueueLimits[]> {
    if (report?.run.state !== 'enqueued') return [];
    const { id: runId, delivery } = report.run;
    return (await this.ports.queueLimits?.({ runId, delivery }).catch(() => [])) ?? [];
  }

  /** A run that a person asked for may have any millisecond; every other time stands for the instant in its second. */
  async #instant(cron: string, exact: number, intervals: readonly ValidityInterval[]): Promise<number> {
    const at = instantInSecond(exact, intervals);
    if (at === exact) return at;
    const { runs } = await this.ports.ledger.account(cron, exact, exact + 1);
    return runs.length > 0 ? exact : at;
  }

  async #read(cron: string, at: number, intervals: readonly ValidityInterval[]) {
    const { ledger, trail, journal, leases, pods } = this.ports;
    const [record, account, orders, heard, holdings, live] = await Promise.all([
      ledger.readCron(cron),
      accountAround(ledger, { cron, at, intervals }),
      // None of these is needed for an answer: one that is away must not keep people from what the ledger knows.
      trail.list({ cron, limit: MAX_ORDERS }).catch(() => null),
      journal?.ofCron(cron, { limit: MAX_HEARD }).catch(() => []) ?? [],
      leases?.inspect([cron]).catch(() => undefined),
      pods?.list().catch(() => []) ?? [],
    ]);
    const standstill = standstillsOf(live).get(cron) ?? null;
    return { record, account, orders, journal: heard, lease: holdings?.[0], standstill };
  }

  async #report({ runs }: Account, at: number): Promise<RunReport | null> {
    const run = runs
      .filter(({ scheduledAt }) => scheduledAt === at)
      .toSorted(byClaim)
      .at(-1);
    return run ? reportOf(this.ports.ledger, run, []) : null;
  }
}

function byClaim(one: Run, other: Run): number {
  return one.claimedAt - other.claimedAt || (one.id < other.id ? -1 : 1);
}

/** What keeps the cron now, where the instant is not older than that. */
function standstillSteps({ standstill = null, context, report }: InstantFacts): WhyStep[] {
  if (!standstill || (context.dueAt < standstill.since && report?.run.id !== standstill.runId)) return [];
  const { text, since: at } = standstill;
  return [step('claim', text, { at, level: isMeant(standstill) ? 'note' : 'bad' })];
}

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
      ...standstillSteps(instantFacts),
      ...storeClockSteps(instantFacts),
      ...scheduleSteps(instantFacts),
      ...generationSteps(instantFacts),
      ...found.steps,
    ],
    ...{ run: report, neighbours: context.neighbours },
  };
}
