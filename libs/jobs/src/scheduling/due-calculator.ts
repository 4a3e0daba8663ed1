import type { Clock } from '@fencepost/lease';
import type { HeldCron } from './held-cron.js';
import { planOccurrence, type Plan } from './misfire.js';
import { POD_TIMING, type PodTiming } from './pod-timing.js';
import { leftoverRanges, newestRange, type GenerationRange, type SharedSchedules } from './generation-ranges.js';

/** What is to be asked for now, and whose instants it is about. */
export interface Due {
  readonly plan: Plan;
  readonly range: GenerationRange;
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

  /** `null` when nothing is due. */
  due(held: HeldCron): Due | null {
    const { schedules, clock, freshness } = this.deps;
    const now = clock.now() - this.#aheadOf(held);
    for (const range of leftoverRanges(held, schedules, freshness.bornAt)) {
      const plan = planRange(held, range, { until: range.until, now });
      if (plan !== null) return { plan, range };
      // The cursor passes instants in their order: what comes after waits for what was put off by a spread.
      if (firstOf(held, range) !== null) return null;
    }
    const range = newestRange(held, schedules, freshness.bornAt);
    const plan = range && planRange(held, range, { until: this.#horizon(), now });
    return range && plan && { plan, range };
  }

  /** When to look next, by this pod's clock; `null` when nothing will ever be due. */
  lookAt(held: HeldCron): number | null {
    const { schedules, clock, freshness } = this.deps;
    const ahead = this.#aheadOf(held);
    for (const range of leftoverRanges(held, schedules, freshness.bornAt)) {
      const next = firstOf(held, range);
      if (next !== null) return next + range.spreadMs + ahead;
    }
    const range = newestRange(held, schedules, freshness.bornAt);
    const next = range && firstOf(held, range);
    if (range === null || next === null) return null;
    const beyondMs = next - this.#horizon();
    const dueAt = next + range.spreadMs + ahead;
    if (beyondMs <= 0) return dueAt;
    // Due, and perhaps another generation's by now: what is heard next will say so.
    const { heartbeatMs } = this.#timing;
    return Math.max(dueAt, clock.now() + Math.min(Math.max(beyondMs, heartbeatMs * SOON), heartbeatMs));
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
