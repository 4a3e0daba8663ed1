import { resourceType } from '../base/resource.js';
import { LostTerms, type LeaseEvent, type LeaseObserver } from '../telemetry/lease-events.js';
import { MIN_SAMPLES, ttlAdvice, type TtlAdvice, type TtlVerdict } from './ttl-advice.js';

export interface TtlAdviserOptions {
  /** Receives `lease.ttl-unfit` when a verdict becomes `too-short` or `too-long`, once until it changes. */
  readonly notify: LeaseObserver;
  /** Resources and types that are remembered, default 1,000; the least recently acquired one is forgotten first. */
  readonly maxRemembered?: number;
}

/** The measurements of one resource, or of one type. */
class HoldTimes {
  readonly held = new DurationHistogram();
  ttlMs: number | null = null;
  /** The last verdict that was published. */
  verdict: TtlVerdict = 'too-few-samples';

  constructor(readonly about: string) {}
}

/**
 * Measures how long resources are held and says which TTL they need; see {@link ttlAdvice}.
 *
 * There may be millions of ids, few of them held a hundred times. So each holding of `<type>:<id>` counts for the resource
 * and for its type, and the type answers for a resource that has too few samples.
 */
export class TtlAdviser {
  readonly #notify: LeaseObserver;
  readonly #maxRemembered: number;
  /** In the order of their last acquisition, the oldest first. */
  readonly #known = new Map<string, HoldTimes>();
  readonly #storeMs = new DurationHistogram();
  readonly #lost = new LostTerms();

  constructor({ notify, maxRemembered = 1_000 }: TtlAdviserOptions) {
    this.#notify = notify;
    this.#maxRemembered = maxRemembered;
  }

  /** Takes every event of a keeper. */
  readonly observe: LeaseObserver = (event: LeaseEvent) => {
    switch (event.name) {
      case 'lease.acquired':
        this.#storeMs.add(event.tookMs);
        for (const about of subjects(event.resource)) this.#acquired(about, event.ttlMs);
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
      // The time of an unanswered request is our timeout, not the store's latency.
      default:
    }
  };

  /** For the resource, or for its type if that has more samples. */
  advice(resource: string): TtlAdvice {
    return this.#judge(this.#bestKnown(resource) ?? new HoldTimes(resource));
  }

  #acquired(about: string, ttlMs: number): void {
    const times = this.#known.get(about) ?? new HoldTimes(about);
    times.ttlMs = ttlMs;
    this.#known.delete(about);
    this.#known.set(about, times);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#maxRemembered) break;
      this.#known.delete(oldest);
    }
  }

  #held(resource: string, heldMs: number): void {
    for (const about of subjects(resource)) this.#known.get(about)?.held.add(heldMs);
    const times = this.#bestKnown(resource);
    // Not after each holding: a quantile reads the whole histogram.
    if (times && times.held.samples % MIN_SAMPLES === 0) this.#publish(times);
  }

  #publish(times: HoldTimes): void {
    const { about: resource, verdict, ttlMs, advisedTtlMs } = this.#judge(times);
    const changed = verdict !== times.verdict;
    times.verdict = verdict;
    if (!changed || ttlMs === null || advisedTtlMs === null) return;
    if (verdict === 'too-short' || verdict === 'too-long') {
      this.#notify({ name: 'lease.ttl-unfit', resource, verdict, ttlMs, advisedTtlMs });
    }
  }

  #judge({ about, held, ttlMs, verdict }: HoldTimes): TtlAdvice {
    const holdMs = { p50: held.quantile(0.5), p99: held.quantile(0.99), p999: held.quantile(0.999) };
    const p999StoreMs = this.#storeMs.quantile(0.999);
    return ttlAdvice({ about, samples: held.samples, holdMs, p999StoreMs, ttlMs }, verdict);
  }

  /** The resource itself if it was held often enough, else its type. */
  #bestKnown(resource: string): HoldTimes | undefined {
    const [own, ofType] = subjects(resource).map((about) => this.#known.get(about));
    return own && own.held.samples >= MIN_SAMPLES ? own : (ofType ?? own);
  }
}

/** The resource, and its type as `<type>:*`, which can't be a resource: a star is refused in names. */
function subjects(resource: string): readonly string[] {
  const type = resourceType(resource);
  return type === 'untyped' ? [resource] : [resource, `${type}:*`];
}

const MIN_MS = 0.1;
const GROWTH = 1.02;
/** Up to 78 hours; longer durations count as that. */
const BUCKETS = 1_100;
/** p99.9 of 5,000 durations still has five above it. */
const GENERATION = 5_000;

/**
 * Quantiles of the last 5,000 to 10,000 durations, never too small and at most 2 % too large: each bucket ends 2 % above
 * the one before. Older durations are forgotten, because a section that was made faster needs the shorter TTL.
 */
export class DurationHistogram {
  #previous: Uint16Array | undefined;
  #current = new Uint16Array(BUCKETS);
  #added = 0;

  get samples(): number {
    return (this.#previous ? GENERATION : 0) + this.#added;
  }

  add(ms: number): void {
    if (!Number.isFinite(ms)) return;
    const bucket = Math.ceil(Math.log(Math.max(ms, MIN_MS) / MIN_MS) / Math.log(GROWTH));
    const at = Math.min(bucket, BUCKETS - 1);
    this.#current[at] = this.#countAt(this.#current, at) + 1;
    this.#added += 1;
    if (this.#added < GENERATION) return;
    this.#previous = this.#current;
    this.#current = new Uint16Array(BUCKETS);
    this.#added = 0;
  }

  /** The duration that the part `q` of all durations doesn't exceed; 0 before the first one. */
  quantile(q: number): number {
    const rank = Math.ceil(q * this.samples);
    let seen = 0;
    for (let at = 0; at < BUCKETS; at += 1) {
      seen += this.#countAt(this.#current, at) + this.#countAt(this.#previous, at);
      if (seen > 0 && seen >= rank) return MIN_MS * GROWTH ** at;
    }
    return 0;
  }

  #countAt(counts: Uint16Array | undefined, at: number): number {
    return counts?.[at] ?? 0;
  }
}
