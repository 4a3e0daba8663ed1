import { resourceType } from '../base/resource.js';
import { DurationHistogram } from './duration-histogram.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import type { LeaseMeasure } from './lease-reports.js';
import { trustedUntil } from '../store/grant.js';
import { MAX_TTL_MS, MIN_TTL_MS } from '../store/lease-request.js';

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
  /** The type of the resource. */
  readonly ofType: string | undefined;

  constructor(readonly about: string) {
    this.ofType = typeOf(about);
  }
}

/**
 * Measures how long resources are held and says which TTL they need; see {@link ttlAdvice}.
 *
 * There may be millions of ids, few of them held a hundred times. So each holding of `<type>:<id>` counts for the resource
 * and for its type, and the type answers for a resource that has too few samples.
 */
export class TtlAdviser implements LeaseMeasure {
  readonly #notify: LeaseObserver;
  readonly #maxRemembered: number;
  /** In the order of their last acquisition, the oldest first. */
  readonly #known = new Map<string, HoldTimes>();
  readonly #storeMs = new DurationHistogram();

  constructor({ notify, maxRemembered = 1_000 }: TtlAdviserOptions) {
    this.#notify = notify;
    this.#maxRemembered = maxRemembered;
  }

  /** Not for an unanswered request: its time is our timeout, not the store's latency. */
  answered(tookMs: number): void {
    this.#storeMs.add(tookMs);
  }

  acquired(resource: string, ttlMs: number): void {
    const { ofType } = this.#acquired(resource, ttlMs);
    if (ofType !== undefined) this.#acquired(ofType, ttlMs);
  }

  ended(resource: string, heldMs: number): void {
    const own = this.#known.get(resource);
    const ofType = this.#typeOf(resource, own);
    own?.held.add(heldMs);
    ofType?.held.add(heldMs);
    const times = better(own, ofType);
    // Not after each holding: a quantile reads the whole histogram.
    if (times && times.held.samples % MIN_SAMPLES === 0) this.#publish(times);
  }

  /** For the resource, or for its type if that has more samples. */
  advice(resource: string): TtlAdvice {
    const own = this.#known.get(resource);
    return this.#judge(better(own, this.#typeOf(resource, own)) ?? new HoldTimes(resource));
  }

  #acquired(about: string, ttlMs: number): HoldTimes {
    const times = this.#known.get(about) ?? new HoldTimes(about);
    times.ttlMs = ttlMs;
    this.#known.delete(about);
    this.#known.set(about, times);
    if (this.#known.size > this.#maxRemembered) this.#forgetOldest();
    return times;
  }

  #forgetOldest(): void {
    const [oldest = ''] = this.#known.keys();
    this.#known.delete(oldest);
  }

  #typeOf(resource: string, own: HoldTimes | undefined): HoldTimes | undefined {
    const ofType = own ? own.ofType : typeOf(resource);
    return ofType === undefined ? undefined : this.#known.get(ofType);
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
}

/** The resource itself if it was held often enough, else its type. */
function better(own: HoldTimes | undefined, ofType: HoldTimes | undefined): HoldTimes | undefined {
  return own && own.held.samples >= MIN_SAMPLES ? own : (ofType ?? own);
}

/** The type of a resource as `<type>:*`, which can't be a resource: a star is refused in names. */
function typeOf(resource: string): string | undefined {
  const type = resourceType(resource);
  return type === 'untyped' ? undefined : `${type}:*`;
}

export type TtlVerdict = 'fits' | 'too-short' | 'too-long' | 'too-few-samples';

/** Measurements. Milliseconds. */
export interface TtlMeasurements {
  /** The resource, or `<type>:*` when it is about all resources of a type. */
  readonly about: string;
  /** How many holdings were measured. */
  readonly samples: number;
  /** How long the resource was held: half of the times at most `p50`, 99.9 % of the times at most `p999`. */
  readonly holdMs: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** How long the store took to answer: 99.9 % of the times at most this. */
  readonly p999StoreMs: number;
  /** In use at the last acquisition; `null` before the first. */
  readonly ttlMs: number | null;
}

/** The facts for choosing a TTL, and a sentence that sums them up. */
export interface TtlAdvice extends TtlMeasurements {
  /** `null` as long as there are too few samples. */
  readonly advisedTtlMs: number | null;
  readonly verdict: TtlVerdict;
  readonly because: string;
}

type Judged = Pick<TtlAdvice, 'advisedTtlMs' | 'verdict' | 'because'>;
type Measured = TtlMeasurements & { readonly ttlMs: number };

const MIN_SAMPLES = 100;

/** A TTL is too long above ten times the needed one, and at least this much above it. */
const MAX_SURPLUS_MS = 10_000;

/**
 * The ttl that a critical section needs, from how long it lasted.
 *
 * A section as long as 99.9 % of them, begun when the answer came, should end within the first term, so that it is not
 * lost when a renewal is: `ttl · (1 − 1/100 − 1/6) − 2 ms ≥ p99.9 of the holding + 2 · p99.9 of the store's answer`. On
 * the left is how long after sending a holder may begin a write, see `trustedUntil` and `mustStop`; on the right the
 * answer of the acquisition comes on top, and that of the last write or the release. The result is rounded up to two
 * digits and kept within the bounds of a ttl, 300 ms and 1 h.
 *
 * A section that no ttl up to 1 h covers lives on its renewals. Its ttl only has to leave room for them: one that is sent
 * after a third of the ttl and fails, and its repetition after another twelfth.
 *
 * Too long is a ttl of more than ten times what is needed and more than 10 s above it: a holder that crashes blocks the
 * resource for all of it.
 * @param before the last verdict. It stands until it is clearly wrong, so that a value on the border doesn't flap.
 */
export function ttlAdvice(measured: TtlMeasurements, before: TtlVerdict = 'too-few-samples'): TtlAdvice {
  const { samples, ttlMs, holdMs, p999StoreMs } = measured;
  if (ttlMs === null || samples < MIN_SAMPLES) return { ...measured, ...unknown(samples) };
  const neededMs = ttlFor(holdMs.p999 + 2 * p999StoreMs, workMs);
  const inUse = { ...measured, ttlMs };
  if (neededMs > MAX_TTL_MS) return { ...inUse, ...judgedByRenewals(inUse, before) };
  return { ...inUse, ...judgedBySection(inUse, clamped(neededMs), before) };
}

/** How long after the request a holder may begin a write, without a renewal. */
function workMs(ttlMs: number): number {
  return trustedUntil(0, ttlMs) - ttlMs / 6;
}

/** How much of that is left when a renewal is sent for the second time. */
function renewalMs(ttlMs: number): number {
  return workMs(ttlMs) - ttlMs / 3 - ttlMs / 12;
}

/** Where a window that grows linearly with the ttl becomes `needMs` wide. */
function ttlFor(needMs: number, windowMs: (ttlMs: number) => number): number {
  return (needMs - windowMs(0)) / (windowMs(1) - windowMs(0));
}

function clamped(ttlMs: number): number {
  return Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, rounded(ttlMs)));
}

/** Up to two digits: the measurements are no more precise. */
function rounded(ms: number): number {
  const step = 10 ** Math.max(0, String(Math.ceil(ms)).length - 2);
  return Math.ceil(ms / step) * step;
}

function judgedBySection(measured: Measured, advisedTtlMs: number, before: TtlVerdict): Judged {
  const { samples, holdMs, ttlMs } = measured;
  const seen = `99.9 % of ${samples} holdings lasted up to ${inWords(holdMs.p999)}`;
  const inUse = `the ttl is ${inWords(ttlMs)}`;
  const advised = inWords(advisedTtlMs);
  if (isTooShort(ttlMs, advisedTtlMs, before)) {
    const because = `${seen} and ${inUse}: the longest are lost when a renewal fails. ${advised} would cover them.`;
    return { advisedTtlMs, verdict: 'too-short', because };
  }
  if (isTooLong(ttlMs, advisedTtlMs, before)) {
    const because = `${seen} and ${inUse}: a crash blocks the resource for that long. ${advised} would be enough.`;
    return { advisedTtlMs, verdict: 'too-long', because };
  }
  return { advisedTtlMs, verdict: 'fits', because: `${seen} and ${inUse}; ${advised} would be enough.` };
}

function judgedByRenewals({ samples, p999StoreMs, ttlMs }: Measured, before: TtlVerdict): Judged {
  const leastMs = clamped(ttlFor(2 * p999StoreMs, renewalMs));
  const seen = `No ttl covers 99.9 % of ${samples} holdings, so they live on renewals, which need ${inWords(leastMs)}`;
  const because = `${seen}; the ttl is ${inWords(ttlMs)}.`;
  if (isTooShort(ttlMs, leastMs, before)) return { advisedTtlMs: leastMs, verdict: 'too-short', because };
  // What remains is how long a crash may block the resource, which can't be measured.
  return { advisedTtlMs: ttlMs, verdict: 'fits', because };
}

function isTooShort(ttlMs: number, neededMs: number, before: TtlVerdict): boolean {
  return ttlMs < (before === 'too-short' ? neededMs : neededMs / 1.1);
}

function isTooLong(ttlMs: number, neededMs: number, before: TtlVerdict): boolean {
  const ease = before === 'too-long' ? 0.8 : 1;
  return ttlMs > 10 * ease * neededMs && ttlMs - neededMs > ease * MAX_SURPLUS_MS;
}

function unknown(samples: number): Judged {
  const because = `Only ${samples} holdings were measured; advice needs at least ${MIN_SAMPLES}.`;
  return { advisedTtlMs: null, verdict: 'too-few-samples', because };
}

function inWords(ms: number): string {
  const [size, unit] = UNITS.find(([least]) => ms >= least) ?? [1, 'ms'];
  return `${Number((ms / size).toPrecision(3))} ${unit}`;
}

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;
