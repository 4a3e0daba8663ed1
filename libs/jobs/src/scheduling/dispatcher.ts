import { randomUUID } from 'node:crypto';
import type { Clock } from '@fencepost/lease';
import { mustStop } from '@fencepost/lease/internal';
import type { ClaimReply, ClaimRequest, OccurrenceLog } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { TraceCarrier, Tracing } from '../telemetry/tracing.js';
import { claimRequest, endOf, DueCalculator, type Due } from './due-calculator.js';
import type { SharedSchedules } from '../schedules/generation-ranges.js';
import type { HeldCron } from './held-cron.js';
import type { PodTiming } from '../membership/pod-timing.js';
import type { QueuedDelivery, RunQueue } from '../queue/run-queue.js';

/** What a pod knows of the catalog, as of its last reading or beat. */
export interface Freshness {
  /** The store's clock at that time, epoch milliseconds: no change accepted before it is unknown here. */
  readonly knownAt: number;
  /** Of the catalog: see `CatalogReading`. */
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
 * What became of a cron that was due: when to look again, by this pod's clock, or that this pod may not act for it any
 * more, or that nobody knows, because store or queue did not answer. `blocked`: an older run was in the way of the new one.
 *
 * `outdated` is the generation the ledger has accepted, when this pod's was refused for being older.
 */
export type DispatchResult =
  | { readonly lookAt: number | null; readonly blocked?: boolean }
  | { readonly stale: true; readonly outdated?: number }
  | { readonly failed: true };

/** One claim on its way, and where its cron stands in the answer. */
interface Asked {
  readonly index: number;
  readonly held: HeldCron;
  readonly due: Due;
  readonly request: ClaimRequest;
}

interface Claimed {
  readonly dispatched: DispatchResult[];
  readonly deliveries: readonly QueuedDelivery[];
  /** Where the crons of the deliveries stand. */
  readonly carried: readonly number[];
}

/** A ledger whose clock has gone back calls early what is due by all that was heard; it is not asked more often than this. */
const SOON_MS = 100;

/** Claimed together. Runs of the first ones reach the queue while the next are being claimed. */
const CHUNK = 250;

/** How many chunks are under way at once: one is being claimed while another is enqueued and confirmed. */
const UNDER_WAY = 2;

const STALE: DispatchResult = { stale: true };
const FAILED: DispatchResult = { failed: true };

/** One occurrence's way through a scheduler pod: claim (ledger) → enqueue (queue) → confirm (ledger). */
export class Dispatcher {
  readonly #dueCalculator: DueCalculator;
  readonly #report: DispatchReport;

  constructor(private readonly deps: DispatcherDeps) {
    this.#dueCalculator = new DueCalculator(deps);
    this.#report = new DispatchReport(deps);
  }

  /**
   * Claims for crons that are due together in one call, and enqueues what was claimed in one bulk, up to 250 at a time. In
   * the order given.
   *
   * Never rejects: a claim that failed is its own cron's trouble, the others that are due go on.
   */
  async dispatch(due: readonly HeldCron[]): Promise<DispatchResult[]> {
    const dispatched = due.map(() => FAILED);
    const delivering: Promise<void>[] = [];
    for (let n = 0; n < due.length; n += CHUNK) {
      await delivering.at(-UNDER_WAY);
      const claimed = await this.#claim(due.slice(n, n + CHUNK));
      delivering.push(
        this.#enqueue(claimed).then((chunk) => chunk.forEach((one, index) => (dispatched[n + index] = one))),
      );
    }
    await Promise.all(delivering);
    return dispatched;
  }

  /** What became of a chunk as far as the ledger is concerned, and what is to be enqueued of it. */
  async #claim(due: readonly HeldCron[]): Promise<Claimed> {
    const dispatched = due.map(() => FAILED);
    const asked = this.#ask(due, dispatched);
    const since = this.deps.clock.now();
    const rejectAll = (reason: unknown) => asked.map(() => ({ status: 'rejected', reason }) as const);
    const requests = asked.map(({ request }) => request);
    const outcomes = requests.length === 0 ? [] : await this.deps.ledger.claimAll(requests).catch(rejectAll);
    const deliveries: QueuedDelivery[] = [];
    const carried: number[] = [];
    asked.forEach((one, n) => {
      const outcome = outcomes[n];
      if (outcome?.status !== 'fulfilled') return this.#report.failed(one.request, outcome?.reason);
      const reply = outcome.value;
      dispatched[one.index] = this.#applyReply(one, reply);
      const trace = this.#trace(one, reply, since);
      if (reply.verdict !== 'claimed') return;
      deliveries.push({ runId: reply.runId, delivery: 1, ...(trace !== undefined && { trace }) });
      carried.push(one.index);
    });
    return { dispatched, deliveries, carried };
  }

  #trace({ request: { cron, fence } }: Asked, reply: ClaimReply, since: number): TraceCarrier | undefined {
    const { tracing } = this.deps;
    if (!tracing || (reply.verdict !== 'claimed' && reply.verdict !== 'stale')) return undefined;
    return tracing.claimed({ cron, fence, since, runId: reply.verdict === 'claimed' ? reply.runId : null });
  }

  async #enqueue({ dispatched, deliveries, carried }: Claimed): Promise<DispatchResult[]> {
    if (!(await this.#tryDeliver(deliveries))) for (const index of carried) dispatched[index] = FAILED;
    return dispatched;
  }

  /** Hands runs to the queue, then tells the ledger. A crash in between is mended by the next holder. */
  async deliver(deliveries: readonly QueuedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const { queue, ledger, telemetry } = this.deps;
    await queue.enqueue(deliveries);
    if (telemetry.listens('run.enqueued')) {
      for (const { trace: _, ...one } of deliveries)
        telemetry.emit('run.enqueued', { ...one, cron: cronOfRun(one.runId) });
    }
    await ledger.confirm(deliveries.map(({ runId }) => runId));
    if (!telemetry.listens('run.confirmed')) return;
    for (const { runId } of deliveries) telemetry.emit('run.confirmed', { runId, cron: cronOfRun(runId) });
  }

  /** The claims of those that are due; the others have their answer already. */
  #ask(all: readonly HeldCron[], dispatched: DispatchResult[]): Asked[] {
    const asked: Asked[] = [];
    const monotonic = this.deps.clock.monotonic();
    all.forEach((held, index) => {
      // A filter that saves a round trip; the ledger's comparison is the defence.
      if (held.over || mustStop(held.lease, monotonic)) return void (dispatched[index] = STALE);
      try {
        const due = this.#dueCalculator.due(held);
        if ('lookAt' in due) return void (dispatched[index] = due);
        const request = claimRequest(held, due, randomUUID());
        this.#report.claiming(request);
        asked.push({ index, held, due, request });
      } catch (error) {
        // It stays failed, and is given up after some failures; its neighbours go on.
        reportProgramError(
          this.deps.telemetry,
          { operation: 'occurrence.plan', cron: held.entry.definition.name },
          error,
        );
      }
    });
    return asked;
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

  /** At once, with the clock put right: something else may be due. Unless that can't be believed: see {@link SOON_MS}. */
  #lookAfter(held: HeldCron, waitMs: number): number {
    const now = this.deps.clock.now();
    return this.#dueCalculator.believes(held) ? now : now + Math.min(waitMs, SOON_MS);
  }

  #applyReply({ held, due, request }: Asked, reply: ClaimReply): DispatchResult {
    const { clock } = this.deps;
    switch (reply.verdict) {
      case 'claimed':
      case 'skipped':
      case 'recorded':
        held.cursor = endOf(request);
        // Measured anew, so that a clock that was set right is trusted again.
        held.aheadMs = 0;
        this.#report.followed(request, reply);
        return { lookAt: this.#dueCalculator.nextAfter(held, due), ...(isBlocked(reply) && { blocked: true }) };
      case 'early':
        held.aheadMs = clock.now() - (endOf(request) + due.range.spreadMs - reply.waitMs);
        return { lookAt: this.#lookAfter(held, reply.waitMs) };
      case 'moved':
        held.cursor = reply.cursor;
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

function isBlocked(reply: ClaimReply): boolean {
  if (reply.verdict === 'skipped') return reply.reason === 'overlap';
  return reply.verdict === 'claimed' && reply.behind === true;
}

interface DispatchReportDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Tells what became of claims. Nothing is put together that nobody listens to: a thousand crons are due at once. */
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
