import { resourceType } from '../base/resource.js';
import { HoldTimes, HoldTimesBook } from './hold-times.js';
import type { LeaseEvent, LeaseObserver } from '../telemetry/lease-events.js';
import { LostTerms } from '../telemetry/lost-terms.js';
import { RecentTimes } from './recent-times.js';
import { FEWEST_SAMPLES, ttlAdvice } from './ttl-advice.js';
import type { TtlAdvice } from './ttl-advice.js';

export interface TtlAdviserOptions {
  /** Hears `lease.ttl-unfit` when a verdict becomes `too-short` or `too-long`, once until it changes. */
  readonly tell: LeaseObserver;
  /** Resources and types that are remembered, default 1,000; the one that wasn't acquired for the longest time goes. */
  readonly most?: number;
}

/** Quantiles cost a sort, so a verdict is looked at again after so many holdings. */
const LOOKED_AT_EACH = FEWEST_SAMPLES;

/**
 * Measures how long resources are held and says which ttl they need; see {@link ttlAdvice}.
 *
 * Ids come by the million and few of them are held a hundred times. So each holding of `<type>:<id>` counts for the
 * resource and for its type, and the type speaks where the resource alone has too few samples.
 */
export class TtlAdviser {
  readonly #tell: LeaseObserver;
  readonly #book: HoldTimesBook;
  readonly #storeMs = new RecentTimes();
  readonly #lost = new LostTerms();

  constructor({ tell, most = 1_000 }: TtlAdviserOptions) {
    this.#tell = tell;
    this.#book = new HoldTimesBook(most);
  }

  /** To be told everything a keeper tells. */
  readonly observe: LeaseObserver = (event: LeaseEvent) => {
    switch (event.name) {
      case 'lease.acquired':
        this.#storeMs.add(event.tookMs);
        for (const about of subjects(event.resource)) this.#book.acquired(about, event.ttlMs);
        return;
      case 'lease.busy':
        this.#storeMs.add(event.tookMs);
        return;
      case 'lease.lost':
      case 'lease.released':
      case 'lease.stale-release':
      case 'lease.release-failed':
        if (this.#lost.isFirstEnd(event)) this.#held(event.resource, event.heldMs);
        return;
      // An unanswered request tells how patient we are and not how fast the store is.
      default:
    }
  };

  /** What is known of the resource, or of its type where that says more. */
  advice(resource: string): TtlAdvice {
    const times = this.#speaker(subjects(resource)) ?? new HoldTimes(resource);
    return this.#judge(times);
  }

  #held(resource: string, heldMs: number): void {
    const about = subjects(resource);
    for (const one of about) this.#book.find(one)?.held.add(heldMs);
    const times = this.#speaker(about);
    if (times && times.held.samples % LOOKED_AT_EACH === 0) this.#look(times);
  }

  #look(times: HoldTimes): void {
    const { about: resource, verdict, ttlMs, advisedTtlMs } = this.#judge(times);
    const changed = verdict !== times.verdict;
    times.verdict = verdict;
    if (!changed || ttlMs === null || advisedTtlMs === null) return;
    if (verdict === 'too-short' || verdict === 'too-long') {
      this.#tell({ name: 'lease.ttl-unfit', resource, verdict, ttlMs, advisedTtlMs });
    }
  }

  #judge(times: HoldTimes): TtlAdvice {
    const [p999StoreMs] = this.#storeMs.quantiles([0.999]);
    return ttlAdvice(times.measured(p999StoreMs), times.verdict);
  }

  /** The resource itself if it was held often enough, else whichever was held more often. */
  #speaker([resource, ofType]: Subjects): HoldTimes | undefined {
    const own = this.#book.find(resource);
    if (own && own.held.samples >= FEWEST_SAMPLES) return own;
    return (ofType === undefined ? undefined : this.#book.find(ofType)) ?? own;
  }
}

/** The resource, and its type as `<type>:*`, which can't be a resource: a star is refused in names. */
type Subjects = readonly [resource: string] | readonly [resource: string, ofType: string];

function subjects(resource: string): Subjects {
  const type = resourceType(resource);
  return type === 'untyped' ? [resource] : [resource, `${type}:*`];
}
