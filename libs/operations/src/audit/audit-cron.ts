import type { Generation } from '@fencepost/ledger/catalog';
import type { Account } from '@fencepost/ledger';
import { occurrenceId, type Run, type RunState, type SkipRange } from '@fencepost/ledger/run';
import { noCounts, type CronAudit, type AuditFinding, type AuditFindingKind, type NotCovered } from './audit-report.js';
import { skipCover } from './skip-cover.js';
import {
  instantsOf,
  validityIntervalsOf,
  intervalPartsOf,
  type AuditSpan,
  type ValidityInterval,
  type IntervalPart,
} from './validity-intervals.js';

/** A generation is effective no later than this after it was accepted, in milliseconds of the store's clock. */
const EFFECTIVE_WITHIN_MS = 2_000;

/**
 * Whether the catalog has lost what a run was claimed under. It may be lost by itself: with another server than the ledger's,
 * or in a failover that kept the claim.
 *
 * Nobody can claim under a generation that was not accepted yet. So where the catalog has that number from later on, it had
 * issued it before, and knows no more what it stood for. And a catalog that fell behind the ledger counts once more on from
 * there: what was claimed before that has a lower number, and may have had another definition.
 */
function lostDefinitions(generations: readonly Generation[]): (run: Run, at: Generation) => boolean {
  const accepted = new Map(generations.map(({ generation, since }) => [generation, since - EFFECTIVE_WITHIN_MS]));
  return (run, at) => isRenumbered(run, at) || run.claimedAt < (accepted.get(run.generation) ?? -Infinity);
}

function isRenumbered(run: Run, { generation, renumberedAt }: Generation): boolean {
  return renumberedAt !== undefined && run.generation < generation && run.claimedAt <= renumberedAt;
}

const FINAL: readonly RunState[] = ['succeeded', 'failed', 'cancelled', 'skipped'];
const BEGUN: readonly RunState[] = ['running', 'orphaned', 'uncertain', 'succeeded', 'failed'];

/** What of a run's record can't be, in words that follow "its run"; `null` when all of it can. */
function impossibility({ state, skipped, finishedAt, attempt }: Run): string | null {
  if (state === 'skipped' && skipped === null) return 'is skipped for no reason';
  if (state !== 'skipped' && skipped !== null) return `is ${state}, and skipped (${skipped})`;
  if (BEGUN.includes(state) && attempt === 0) return `is ${state}, and no attempt ever began`;
  if (FINAL.includes(state) !== (finishedAt !== null)) {
    return finishedAt === null ? `is ${state}, and never ended` : `is ${state}, and has ended`;
  }
  return null;
}

/**
 * Holds what is recorded of a cron against its schedule: every instant of an active generation has exactly one run or one
 * recorded reason why not, and every scheduled run has an instant. What people asked for by hand is no instant.
 *
 * Pure, and no line of it is the engine's: a fault that both share would not be seen.
 * @param generations oldest first; what lies before the oldest one can't be judged, and is not
 * @param account everything recorded of `[span.from, span.to]`, what lies outside doesn't matter
 */
export function auditCron(generations: readonly Generation[], account: Account, span: AuditSpan): CronAudit {
  return auditIntervals(validityIntervalsOf(generations), account, span);
}

/** {@link auditCron}, for schedules that were read before. */
export function auditIntervals(intervals: readonly ValidityInterval[], account: Account, span: AuditSpan): CronAudit {
  const examination = new Examination(account, lostDefinitions(intervals.map(({ generation }) => generation)));
  for (const part of intervalPartsOf(intervals, span)) examination.of(part);
  return examination.result();
}

const NOTHING = 'it has neither a run nor a recorded reason for not running';

/** What is recorded of one instant. */
interface Evidence {
  readonly instant: number;
  readonly generation: Generation;
  /** Those that the schedule made. */
  readonly scheduled: readonly Run[];
  /** The one that has its natural id, whoever asked for it. */
  readonly natural: Run | undefined;
  readonly range: SkipRange | null;
}

class Examination {
  readonly #counts = noCounts();
  readonly #findings: AuditFinding[] = [];
  readonly #runs: ReadonlyMap<number, readonly Run[]>;
  readonly #rangeOf: (instant: number) => SkipRange | null;
  readonly #notCovered: NotCovered[] = [];

  constructor(
    { runs, skips }: Account,
    private readonly isLost: (run: Run, at: Generation) => boolean,
  ) {
    this.#runs = byInstant(runs);
    this.#rangeOf = skipCover(skips);
  }

  of(part: IntervalPart): void {
    const { generation, after, through } = part;
    const seen = new Set<number>();
    for (const instant of instantsOf(part)) {
      const runs = this.#runs.get(instant) ?? [];
      const id = occurrenceId({ cron: generation.definition.name, scheduledAt: instant });
      const natural = runs.find((run) => run.id === id);
      const scheduled = runs.filter(isScheduled);
      this.#judge({ instant, generation, scheduled, natural, range: this.#rangeOf(instant) });
      seen.add(instant);
    }
    for (const [instant, runs] of this.#runs) {
      const isAstray = instant > after && instant <= through && !seen.has(instant);
      if (isAstray) this.#astray(generation, runs.filter(isScheduled));
    }
  }

  result(): CronAudit {
    return { ...this.#counts, findings: this.#findings, notCovered: this.#notCovered };
  }

  #judge(evidence: Evidence): void {
    const { instant, scheduled, natural, range, generation } = evidence;
    this.#counts.instants += 1;
    const run = scheduled[0] ?? natural;
    if (range && (!run || !isScheduled(run))) this.#counts.skipped[range.reason] += 1;
    else if (run) this.#class(run);
    else this.#find('missed', { cron: generation.definition.name, instant }, NOTHING);
    const [first, ...others] = scheduled;
    if (!first) return;
    if (others.length > 0) this.#double(first, others);
    for (const problem of contradictions(first, evidence)) this.#find('unexplained', first, problem);
    if (first.generation === generation.generation || this.isLost(first, generation)) return;
    const its = `its run is of generation ${first.generation}`;
    this.#find('unexplained', first, `${its}, and the instant is of generation ${generation.generation}`);
  }

  #class(run: Run): void {
    if (run.skipped) this.#counts.skipped[run.skipped] += 1;
    else if (run.state === 'succeeded' || run.state === 'failed') this.#counts.ran += 1;
    else if (run.state === 'cancelled') this.#counts.cancelled += 1;
    else this.#counts.waiting += 1;
  }

  #double(first: Run, others: readonly Run[]): void {
    const ids = [first, ...others].map(({ id, state }) => `${id} (${state})`).join(' and ');
    this.#find('doubled', first, `it has ${others.length + 1} scheduled runs, ${ids}`);
    this.#counts.doubled += others.length - 1;
  }

  #astray(at: Generation, runs: readonly Run[]): void {
    const { state, definition, generation } = at;
    for (const run of runs) {
      if (this.isLost(run, at)) {
        this.#leaveOpen(run);
        continue;
      }
      const why =
        state === 'active'
          ? `generation ${generation} ("${definition.expression}", ${definition.timeZone}) has no such instant`
          : `the cron was ${state} then`;
      this.#find('unexplained', run, `the run ${run.id} stands there, and ${why}`);
    }
  }

  #leaveOpen({ id, cron, scheduledAt: instant }: Run): void {
    const text = `Run ${id} cannot be checked: the catalog has lost the definition it was claimed under.`;
    this.#notCovered.push({ cron, from: instant, to: instant, text });
  }

  #find(kind: AuditFindingKind, at: { cron: string; instant: number } | Run, what: string): void {
    const instant = 'instant' in at ? at.instant : at.scheduledAt;
    this.#counts[kind] += 1;
    const text = `Of "${at.cron}" the instant ${new Date(instant).toISOString()} is ${kind}: ${what}.`;
    this.#findings.push({ kind, cron: at.cron, instant, text });
  }
}

function byInstant(runs: readonly Run[]): Map<number, Run[]> {
  const groups = new Map<number, Run[]>();
  for (const run of runs) {
    const others = groups.get(run.scheduledAt);
    if (others) others.push(run);
    else groups.set(run.scheduledAt, [run]);
  }
  return groups;
}

/** Whether the schedule made the run: one that stands for a pause that ended is a catch-up too, and has a manual id. */
function isScheduled({ id, cron, reason }: Run): boolean {
  return reason === 'schedule' || (reason === 'catch-up' && !id.startsWith(`${cron}@manual-`));
}

function* contradictions(run: Run, { natural, range }: Evidence): Generator<string, void, undefined> {
  if (range) yield `the run ${run.id} (${run.state}) stands there, and it is recorded as skipped (${range.reason})`;
  if (!natural) yield `its run is called ${run.id}, which is not the instant's own name`;
  const impossible = impossibility(run);
  if (impossible) yield `its run ${impossible}`;
}
