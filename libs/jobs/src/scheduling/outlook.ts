import type { Clock } from '@fencepost/lease';
import type { HeldCron } from './held-cron.js';
import { planOccurrence, type Plan } from './misfire.js';
import { POD_TIMING, type PodTiming } from './pod-timing.js';
import { leftoverSegments, newestSegment, type Segment, type SharedSchedules } from './segments.js';

/** What is to be asked for now, and whose instants it is about. */
export interface Due {
  readonly plan: Plan;
  readonly segment: Segment;
}

export interface OutlookDeps {
  readonly clock: Clock;
  readonly schedules: SharedSchedules;
  readonly freshness: { readonly knownAt: number; readonly bornAt?: number | null };
  readonly timing?: Pick<PodTiming, 'beatMs' | 'effectiveAfterMs'>;
}

/** A pod that doesn't know the catalog well enough looks again: no sooner than after this part of a beat, and no later than after one. */
const SOON = 1 / 10;

/** What is due of a cron, and when the next of it is: generation by generation, in the order of the instants. */
export class Outlook {
  readonly #timing: Pick<PodTiming, 'beatMs' | 'effectiveAfterMs'>;

  constructor(private readonly deps: OutlookDeps) {
    this.#timing = deps.timing ?? POD_TIMING;
  }

  /** `null` when nothing is due. */
  due(held: HeldCron): Due | null {
    const { schedules, clock, freshness } = this.deps;
    const now = clock.now() - this.#aheadOf(held);
    for (const segment of leftoverSegments(held, schedules, freshness.bornAt)) {
      const plan = planSegment(held, segment, { until: segment.until, now });
      if (plan !== null) return { plan, segment };
      // The cursor passes instants in their order: what comes after waits for what was put off by a spread.
      if (firstOf(held, segment) !== null) return null;
    }
    const segment = newestSegment(held, schedules, freshness.bornAt);
    const plan = segment && planSegment(held, segment, { until: this.#horizon(), now });
    return segment && plan && { plan, segment };
  }

  /** When to look next, by this pod's clock; `null` when nothing will ever be due. */
  lookAt(held: HeldCron): number | null {
    const { schedules, clock, freshness } = this.deps;
    const ahead = this.#aheadOf(held);
    for (const segment of leftoverSegments(held, schedules, freshness.bornAt)) {
      const next = firstOf(held, segment);
      if (next !== null) return next + segment.spreadMs + ahead;
    }
    const segment = newestSegment(held, schedules, freshness.bornAt);
    const next = segment && firstOf(held, segment);
    if (segment === null || next === null) return null;
    const beyondMs = next - this.#horizon();
    const dueAt = next + segment.spreadMs + ahead;
    if (beyondMs <= 0) return dueAt;
    // Due, and perhaps another generation's by now: what is heard next will say so.
    const { beatMs } = this.#timing;
    return Math.max(dueAt, clock.now() + Math.min(Math.max(beyondMs, beatMs * SOON), beatMs));
  }

  /** Up to here it is known which generation an instant belongs to. */
  #horizon(): number {
    return this.deps.freshness.knownAt + this.#timing.effectiveAfterMs;
  }

  /** Whether what a refused claim has shown agrees with what was heard of the store's clock. */
  believes({ aheadMs }: HeldCron): boolean {
    return aheadMs <= this.#mostAheadMs();
  }

  /** The store's clock goes on from where it was heard last, so that a clock which shows less than that is behind. */
  #aheadOf(held: HeldCron): number {
    held.aheadMs = Math.min(held.aheadMs, this.#mostAheadMs());
    return held.aheadMs;
  }

  #mostAheadMs(): number {
    return this.deps.clock.now() - this.deps.freshness.knownAt;
  }
}

function planSegment(held: HeldCron, segment: Segment, { until, now }: { until: number; now: number }): Plan | null {
  const { schedule, definition, spreadMs } = segment;
  const cursor = accountedUntil(held, segment);
  if (schedule !== null) return planOccurrence({ schedule, definition, spreadMs, cursor, until, now });
  // Nobody can say which instants these were: a newer generation has taken their place.
  if (segment.until > now) return null;
  return { skips: [{ after: cursor, through: segment.until, reason: 'superseded' }], occurrence: null };
}

/** The first instant that is not accounted for. */
function firstOf(held: HeldCron, segment: Segment): number | null {
  const { schedule, until } = segment;
  if (schedule === null) return until === Infinity ? null : until;
  const next = schedule.next(accountedUntil(held, segment));
  return next !== null && next <= until ? next : null;
}

/** From where on instants count: a changed expression never makes any that were missed before the change. */
function accountedUntil({ cursor }: HeldCron, { from }: Segment): number {
  return cursor !== null && cursor > from ? cursor : from;
}
