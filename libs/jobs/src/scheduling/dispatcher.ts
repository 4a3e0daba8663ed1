import type { Clock } from '@fencepost/lease';
import { mustStop, shortNonce } from '@fencepost/lease/internal';
import type { ClaimReply, ClaimRequest, OccurrenceLog } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { TraceCarrier, Tracing } from '../telemetry/tracing.js';
import { claimRequest, endOf, DueCalculator, type Due } from './due-calculator.js';
import type { SharedSchedules } from '../schedules/schedules.js';
import type { HeldCron } from './held-cron.js';
import type { PodTiming } from '../membership/pod-timing.js';
import type { Claims, QueuedDelivery, RunQueue } from '../queue/run-queue.js';

/** How fresh the cached catalog is, as of the last reading or heartbeat. */
export interface Freshness {
  /** The store's clock at that time, epoch milliseconds: every change accepted before it is known here. */
  readonly knownAt: number;
  /** See `CatalogReading`. */
  readonly bornAt?: number | null;
}

export interface DispatcherDeps {
  readonly ledger: OccurrenceLog;
  readonly queue: RunQueue;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly schedules: SharedSchedules;
  /** Read at every dispatch. */
  readonly freshness: Freshness;
  readonly timing?: PodTiming;
  readonly tracing?: Tracing | null;
}

/**
 * The result for a cron that was due: when to check it again, by the clock of this pod; `stale` if this pod no longer holds
 * it; `failed` if store or queue failed and the outcome is unknown. `obstacle`: `blocked` by an older run, or `paused`.
 *
 * `outdated` is the generation that the ledger has accepted, if the generation of this pod was refused as older.
 */
export type DispatchResult =
  | { readonly lookAt: number | null; readonly obstacle?: 'blocked' | 'paused' }
  | { readonly stale: true; readonly outdated?: number }
  | { readonly failed: true };

/** One claim, and the index of its cron in the result. */
interface PendingClaim {
  readonly index: number;
  readonly held: HeldCron;
  readonly due: Due;
  readonly request: ClaimRequest;
}

/** A ledger whose clock has gone back refuses due claims as early; it is not called more often than this. */
const SOON_MS = 100;

const STALE: DispatchResult = { stale: true };
const FAILED: DispatchResult = { failed: true };

/**
 * The path of an occurrence through a scheduler pod: claim (ledger) → enqueue (queue) → confirm (ledger). Where the queue is on
 * the server of the ledger, that is one step.
 */
export class Dispatcher {
  readonly #dueCalculator: DueCalculator;
  readonly #report: DispatchReport;
  /** Claims and enqueues in one step; `null` where that takes three. */
  readonly #fused: Claims | null;

  constructor(private readonly deps: DispatcherDeps) {
    const { ledger, queue } = deps;
    this.#fused = (ledger.claimStep && queue.claimsWith?.(ledger.claimStep)) ?? null;
    this.#dueCalculator = new DueCalculator(deps);
    this.#report = new DispatchReport(deps);
  }

  /**
   * Claims the instants of crons that are due together in one call, enqueues the runs in one bulk, and confirms them in one
   * call: the caller bounds their number.
   * @returns a result for each cron, in the order given
   *
   * Never rejects: a failed claim does not affect the other crons.
   */
  async dispatch(due: readonly HeldCron[]): Promise<DispatchResult[]> {
    const dispatched = due.map(() => FAILED);
    const pending = this.#pendingClaims(due, dispatched);
    const since = this.deps.clock.now();
    const rejectAll = (reason: unknown) => pending.map(() => ({ status: 'rejected', reason }) as const);
    const requests = pending.map(({ request }) => request);
    const claims = this.#fused ?? this.deps.ledger;
    const outcomes = requests.length === 0 ? [] : await claims.claimAll(requests).catch(rejectAll);
    const deliveries: QueuedDelivery[] = [];
    const carried: number[] = [];
    pending.forEach((one, n) => {
      const outcome = outcomes[n];
      if (outcome?.status !== 'fulfilled') return this.#report.failed(one.request, outcome?.reason);
      const reply = outcome.value;
      dispatched[one.index] = this.#applyReply(one, reply);
      const trace = this.#trace(one, reply, since);
      if (reply.verdict !== 'claimed') return;
      deliveries.push({ runId: reply.runId, delivery: 1, ...(trace !== undefined && { trace }) });
      carried.push(one.index);
    });
    if (this.#fused) this.#report.delivered(deliveries);
    else if (!(await this.#tryDeliver(deliveries))) for (const index of carried) dispatched[index] = FAILED;
    return dispatched;
  }

  #trace({ request: { cron, fence } }: PendingClaim, reply: ClaimReply, since: number): TraceCarrier | undefined {
    const { tracing } = this.deps;
    if (!tracing || (reply.verdict !== 'claimed' && reply.verdict !== 'stale')) return undefined;
    return tracing.claimed({ cron, fence, since, runId: reply.verdict === 'claimed' ? reply.runId : null });
  }

  /** Enqueues runs, then confirms them in the ledger. After a crash in between, the next holder enqueues them again. */
  async deliver(deliveries: readonly QueuedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const { queue, ledger } = this.deps;
    await queue.enqueue(deliveries);
    this.#report.enqueued(deliveries);
    await ledger.confirm(deliveries.map(({ runId }) => runId));
    this.#report.confirmed(deliveries);
  }

  /** The claims of the crons that are due; the others have their result already. */
  #pendingClaims(all: readonly HeldCron[], dispatched: DispatchResult[]): PendingClaim[] {
    const pending: PendingClaim[] = [];
    const monotonic = this.deps.clock.monotonic();
    all.forEach((held, index) => {
      // Saves a round trip; the defence is the ledger's comparison of fences.
      if (held.over || mustStop(held.lease, monotonic)) return void (dispatched[index] = STALE);
      try {
        const due = this.#dueCalculator.due(held);
        if ('lookAt' in due) return void (dispatched[index] = due);
        const request = claimRequest(held, due, shortNonce());
        this.#report.claiming(request);
        pending.push({ index, held, due, request });
      } catch (error) {
        // Its next tries fail too, until the cron is given up; the other crons go on.
        reportProgramError(
          this.deps.telemetry,
          { operation: 'occurrence.plan', cron: held.entry.definition.name },
          error,
        );
      }
    });
    return pending;
  }

  async #tryDeliver(deliveries: readonly QueuedDelivery[]): Promise<boolean> {
    try {
      await this.deliver(deliveries);
      return true;
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'run.enqueue' }, error);
      return false;
    }
  }

  /** Check again at once with the corrected clock: something else may be due. If the correction is implausible: {@link SOON_MS}. */
  #lookAfter(held: HeldCron, waitMs: number): number {
    const now = this.deps.clock.now();
    return this.#dueCalculator.believes(held) ? now : now + Math.min(waitMs, SOON_MS);
  }

  #applyReply({ held, due, request }: PendingClaim, reply: ClaimReply): DispatchResult {
    const { clock } = this.deps;
    switch (reply.verdict) {
      case 'claimed':
      case 'skipped':
      case 'recorded':
        held.cursor = endOf(request);
        // Measured again, so that a corrected clock is trusted again.
        held.aheadMs = 0;
        this.#report.followed(request, reply);
        return { lookAt: this.#dueCalculator.nextAfter(held, due), ...obstacleIn(reply) };
      case 'early':
        held.aheadMs = clock.now() - (endOf(request) + due.range.spreadMs - reply.waitMs);
        return { lookAt: this.#lookAfter(held, reply.waitMs) };
      case 'moved':
        // Perhaps by a call of this pod that came through after its timeout: nobody has enqueued what it claimed.
        held.known = false;
        return { lookAt: clock.now() };
      case 'stale':
        this.#report.followed(request, reply);
        return STALE;
      case 'stale-definition':
        this.#report.followed(request, reply);
        return { stale: true, outdated: reply.generation };
    }
  }
}

function obstacleIn(reply: ClaimReply): Pick<Extract<DispatchResult, { lookAt: unknown }>, 'obstacle'> {
  if (reply.verdict === 'skipped') return { obstacle: reply.reason === 'paused' ? 'paused' : 'blocked' };
  return reply.verdict === 'claimed' && reply.behind === true ? { obstacle: 'blocked' } : {};
}

interface DispatchReportDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Emits the events of claims. Builds none without a listener: a thousand crons may be due at once. */
class DispatchReport {
  constructor(private readonly deps: DispatchReportDeps) {}

  claiming({ cron, occurrence, fence }: ClaimRequest): void {
    const { telemetry } = this.deps;
    if (!telemetry.listens('occurrence.claiming')) return;
    telemetry.emit('occurrence.claiming', { cron, scheduledAt: occurrence?.scheduledAt ?? null, fence });
  }

  failed({ cron }: ClaimRequest, reason: unknown): void {
    reportStoreFailure(this.deps.telemetry, { operation: 'occurrence.claim', cron }, reason);
  }

  enqueued(deliveries: readonly QueuedDelivery[]): void {
    const { telemetry } = this.deps;
    if (!telemetry.listens('run.enqueued')) return;
    for (const { trace: _, ...one } of deliveries)
      telemetry.emit('run.enqueued', { ...one, cron: cronOfRun(one.runId) });
  }

  confirmed(deliveries: readonly QueuedDelivery[]): void {
    const { telemetry } = this.deps;
    if (!telemetry.listens('run.confirmed')) return;
    for (const { runId } of deliveries) telemetry.emit('run.confirmed', { runId, cron: cronOfRun(runId) });
  }

  delivered(deliveries: readonly QueuedDelivery[]): void {
    this.enqueued(deliveries);
    this.confirmed(deliveries);
  }

  followed(request: ClaimRequest, reply: ClaimReply): void {
    const { telemetry } = this.deps;
    const { cron, fence, generation } = request;
    if (reply.verdict === 'stale') return telemetry.emit('claim.stale', { cron, fence, accepted: reply.fence });
    if (reply.verdict === 'stale-definition') {
      return telemetry.emit('claim.outdated', { cron, generation, accepted: reply.generation });
    }
    for (const range of request.skips) telemetry.emit('occurrence.passed', { cron, ...range });
    this.#occurrence(request, reply);
  }

  #occurrence({ cron, fence, occurrence }: ClaimRequest, reply: ClaimReply): void {
    const { telemetry, clock } = this.deps;
    if (occurrence === null) return;
    const { scheduledAt, dueAt, reason } = occurrence;
    if (reply.verdict === 'skipped') telemetry.emit('occurrence.skipped', { cron, scheduledAt, reason: reply.reason });
    if (reply.verdict !== 'claimed' || !telemetry.listens('occurrence.claimed')) return;
    telemetry.emit('occurrence.claimed', { cron, runId: reply.runId, fence, reason, lateByMs: clock.now() - dueAt });
  }
}
