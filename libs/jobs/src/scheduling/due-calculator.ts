import type { Clock } from '@fencepost/lease';
import type { ClaimedOccurrence, ClaimRequest } from '@fencepost/ledger';
import { DEFAULT_CANCEL_GRACE_MS, type CronDefinition } from '@fencepost/ledger/catalog';
import type { OverlapPolicy } from '@fencepost/ledger/run';
import {
  leftoverRanges,
  newestRange,
  type GenerationRange,
  type SharedSchedules,
} from '../schedules/generation-ranges.js';
import type { HeldCron } from './held-cron.js';
import { planOccurrence, type Plan } from './misfire.js';
import { POD_TIMING, type PodTiming } from '../membership/pod-timing.js';

/** What is to be asked for now, and whose instants it is about. */
export interface Due {
  readonly plan: Plan;
  readonly range: GenerationRange;
}

/** By this pod's clock; `null` when nothing will ever be due. */
export interface NotDue {
  readonly lookAt: number | null;
}

export interface DueCalculatorDeps {
  readonly clock: Clock;
  readonly schedules: SharedSchedules;
  readonly freshness: { readonly knownAt: number; readonly bornAt?: number | null };
  readonly timing?: Pick<PodTiming, 'heartbeatMs' | 'effectiveAfterMs'>;
}

/** A pod that doesn't know the catalog well enough looks again: no sooner than after this part of a heartbeat, and no later than after one. */
const SOON = 1 / 10;

/** What is due of a cron, and when the next of it is: generation by generation, in the order of the instants. */
export class DueCalculator {
  readonly #timing: Pick<PodTiming, 'heartbeatMs' | 'effectiveAfterMs'>;

  constructor(private readonly deps: DueCalculatorDeps) {
    this.#timing = deps.timing ?? POD_TIMING;
  }

  /** What is due of a cron, or else when to look next: worked out in one walk over its generations. */
  due(held: HeldCron): Due | NotDue {
    const { schedules, clock, freshness } = this.deps;
    const aheadMs = this.#aheadOf(held);
    const now = clock.now() - aheadMs;
    for (const range of leftoverRanges(held, schedules, freshness.bornAt)) {
      const plan = planRange(held, range, { until: range.until, now });
      if (plan !== null) return { plan, range };
      // The cursor passes instants in their order: what comes after waits for what was put off by a spread.
      const next = firstOf(held, range);
      if (next !== null) return { lookAt: next + range.spreadMs + aheadMs };
    }
    const range = newestRange(held, schedules, freshness.bornAt);
    const plan = range && planRange(held, range, { until: this.#horizon(), now });
    return range && plan ? { plan, range } : { lookAt: range && this.#nextIn(held, range, aheadMs) };
  }

  /** When to look again after what was due has been claimed, by this pod's clock; `null` when nothing will ever be due. */
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
    // Due, and perhaps another generation's by now: what is heard next will say so.
    const { heartbeatMs } = this.#timing;
    return Math.max(dueAt, this.deps.clock.now() + Math.min(Math.max(beyondMs, heartbeatMs * SOON), heartbeatMs));
  }

  /** Up to here it is known which generation an instant belongs to. */
  #horizon(): number {
    return this.deps.freshness.knownAt + this.#timing.effectiveAfterMs;
  }

  /** Whether what a refused claim has shown agrees with what was heard of the store's clock. */
  believes({ aheadMs }: HeldCron): boolean {
    return aheadMs <= this.#maxAheadMs();
  }

  /** The store's clock goes on from where it was heard last, so that a clock which shows less than that is behind. */
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
  // Nobody can say which instants these were: a newer generation has taken their place.
  if (range.until > now) return null;
  return { skips: [{ after: cursor, through: range.until, reason: 'superseded' }], occurrence: null };
}

/** The first instant that is not accounted for. */
function firstOf(held: HeldCron, range: GenerationRange): number | null {
  const { schedule, until } = range;
  if (schedule === null) return until === Infinity ? null : until;
  const next = schedule.next(accountedUntil(held, range));
  return next !== null && next <= until ? next : null;
}

/** From where on instants count: a changed expression never makes any that were missed before the change. */
function accountedUntil({ cursor }: HeldCron, { from }: GenerationRange): number {
  return cursor !== null && cursor > from ? cursor : from;
}

/** Asks for what a plan says, under the generation its instants belong to. */
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

/** Where the cursor stands after the claim. */
export function endOf({ occurrence, skips }: ClaimRequest): number {
  return occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
}

/** What `fire-all` makes up for runs one after the other, and not all at once as soon as the pods are back. */
function overlapOf({ misfire, overlap }: CronDefinition, occurrence: ClaimedOccurrence | null): OverlapPolicy {
  return misfire === 'fire-all' && occurrence?.reason === 'catch-up' && overlap !== 'allow' ? 'queue-all' : overlap;
}
