import type { Clock } from '@fencepost/lease';
import type { ClaimedOccurrence, ClaimRequest } from '@fencepost/ledger';
import { DEFAULT_CANCEL_GRACE_MS, type CronDefinition } from '@fencepost/ledger/catalog';
import type { OverlapPolicy } from '@fencepost/ledger/run';
import { leftoverRanges, newestRange, type GenerationRange, type SharedSchedules } from '../schedules/schedules.js';
import type { HeldCron } from './held-cron.js';
import { planOccurrence, type Plan } from './misfire.js';
import { POD_TIMING, type PodTiming } from '../membership/pod-timing.js';

/** A plan to claim now, and the generation of its instants. */
export interface Due {
  readonly plan: Plan;
  readonly range: GenerationRange;
}

/** By the clock of this pod; `null` if no instant will ever be due. */
export interface NotDue {
  readonly lookAt: number | null;
}

export interface DueCalculatorDeps {
  readonly clock: Clock;
  readonly schedules: SharedSchedules;
  readonly freshness: { readonly knownAt: number; readonly bornAt?: number | null };
  readonly timing?: Pick<PodTiming, 'heartbeatMs' | 'effectiveAfterMs'>;
}

/** A pod whose copy of the catalog is too old checks again after between this part of a heartbeat and a whole one. */
const SOON = 1 / 10;

/** Computes which instants of a cron are due and when the next one is: generation by generation, in order. */
export class DueCalculator {
  readonly #timing: Pick<PodTiming, 'heartbeatMs' | 'effectiveAfterMs'>;

  constructor(private readonly deps: DueCalculatorDeps) {
    this.#timing = deps.timing ?? POD_TIMING;
  }

  /** The due instants of a cron, or else when to check next, in one pass over its generations. */
  due(held: HeldCron): Due | NotDue {
    const { schedules, clock, freshness } = this.deps;
    const aheadMs = this.#aheadOf(held);
    const now = clock.now() - aheadMs;
    for (const range of leftoverRanges(held, schedules, freshness.bornAt)) {
      const plan = planRange(held, range, { until: range.until, now });
      if (plan !== null) return { plan, range };
      // The cursor passes instants in order: later ones wait for an instant that its spread delays.
      const next = firstOf(held, range);
      if (next !== null) return { lookAt: next + range.spreadMs + aheadMs };
    }
    const range = newestRange(held, schedules, freshness.bornAt);
    const plan = range && planRange(held, range, { until: this.#horizon(), now });
    return range && plan ? { plan, range } : { lookAt: range && this.#nextIn(held, range, aheadMs) };
  }

  /** When to check again after a claim, by the clock of this pod; `null` if no instant will ever be due. */
  nextAfter(held: HeldCron, { range }: Due): number | null {
    const { schedules, freshness } = this.deps;
    const aheadMs = this.#aheadOf(held);
    if (range.until === Infinity) return this.#nextIn(held, range, aheadMs);
    for (const leftover of leftoverRanges(held, schedules, freshness.bornAt)) {
      const next = firstOf(held, leftover);
      if (next !== null) return next + leftover.spreadMs + aheadMs;
    }
    const newest = newestRange(held, schedules, freshness.bornAt);
    return newest && this.#nextIn(held, newest, aheadMs);
  }

  #nextIn(held: HeldCron, newest: GenerationRange, aheadMs: number): number | null {
    const next = firstOf(held, newest);
    if (next === null) return null;
    const beyondMs = next - this.#horizon();
    const dueAt = next + newest.spreadMs + aheadMs;
    if (beyondMs <= 0) return dueAt;
    // Due, but perhaps of another generation by now: the next heartbeat shows it.
    const { heartbeatMs } = this.#timing;
    return Math.max(dueAt, this.deps.clock.now() + Math.min(Math.max(beyondMs, heartbeatMs * SOON), heartbeatMs));
  }

  /** Up to this instant, the generation of each instant is known. */
  #horizon(): number {
    return this.deps.freshness.knownAt + this.#timing.effectiveAfterMs;
  }

  /** Whether the clock difference shown by a refused claim agrees with the clock in the store's heartbeats. */
  believes({ aheadMs }: HeldCron): boolean {
    return aheadMs <= this.#maxAheadMs();
  }

  /** The store's clock does not go back, so a clock that shows less than the last heartbeat is behind. */
  #aheadOf(held: HeldCron): number {
    held.aheadMs = Math.min(held.aheadMs, this.#maxAheadMs());
    return held.aheadMs;
  }

  #maxAheadMs(): number {
    return this.deps.clock.now() - this.deps.freshness.knownAt;
  }
}

function planRange(
  held: HeldCron,
  range: GenerationRange,
  { until, now }: { until: number; now: number },
): Plan | null {
  const { schedule, definition, spreadMs } = range;
  const cursor = accountedUntil(held, range);
  if (schedule !== null) return planOccurrence({ schedule, definition, spreadMs, cursor, until, now });
  // These instants are unknown: a newer generation has replaced theirs.
  if (range.until > now) return null;
  return { skips: [{ after: cursor, through: range.until, reason: 'superseded' }], occurrence: null };
}

/** The first instant not accounted for. */
function firstOf(held: HeldCron, range: GenerationRange): number | null {
  const { schedule, until } = range;
  if (schedule === null) return until === Infinity ? null : until;
  const next = schedule.next(accountedUntil(held, range));
  return next !== null && next <= until ? next : null;
}

/** Instants count from here: a changed expression adds no missed instants before the change. */
function accountedUntil({ cursor }: HeldCron, { from }: GenerationRange): number {
  return cursor !== null && cursor > from ? cursor : from;
}

/** The claim request for a plan, under the generation of its instants. */
export function claimRequest(held: HeldCron, { plan, range }: Due, nonce: string): ClaimRequest {
  const { lease, cursor } = held;
  const { definition, generation, spreadMs } = range;
  const { startDeadlineMs } = definition;
  const { occurrence } = plan;
  return {
    cron: definition.name,
    fence: lease.fence,
    term: lease.nonce,
    holder: lease.holder,
    generation,
    nonce,
    cursor,
    skips: plan.skips,
    spreadMs,
    occurrence,
    overlap: overlapOf(definition, occurrence),
    maxConcurrency: definition.maxConcurrency ?? 1,
    cancelGraceMs: definition.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    startBy: startDeadlineMs === undefined || occurrence === null ? null : occurrence.dueAt + startDeadlineMs,
    handler: definition.handler ?? null,
    payload: definition.payload === undefined ? null : JSON.stringify(definition.payload),
  };
}

/** The cursor after the claim. */
export function endOf({ occurrence, skips }: ClaimRequest): number {
  return occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
}

/** `fire-all` catches up one run after the other, not all at once when the pods are back. */
function overlapOf({ misfire, overlap }: CronDefinition, occurrence: ClaimedOccurrence | null): OverlapPolicy {
  return misfire === 'fire-all' && occurrence?.reason === 'catch-up' && overlap !== 'allow' ? 'queue-all' : overlap;
}
