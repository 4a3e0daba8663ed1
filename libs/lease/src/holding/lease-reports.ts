import type { Clock } from '../base/clock.js';
import type { LossReason } from '../base/errors.js';
import type { AcquireReply, AcquireRequest } from '../store/lease-store.js';
import { observers, unobserved } from '../telemetry/lease-events.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import type { Hold, KeptLease } from './held-lease.js';
import type { Session } from '../store/lease-sessions.js';

/** A session, and how many leases live with it. */
interface Reported {
  readonly session: Session;
  readonly size: number;
}

/** Measures how long the store takes and how long leases are held. It hears of every lease, so it gets plain calls and no events. */
export interface LeaseMeasure {
  /** The store has granted or refused a lease. */
  answered(tookMs: number): void;
  /** A lease with a TTL of its own was granted, or has another TTL. */
  acquired(resource: string, ttlMs: number): void;
  /** Called once for each term: when it is lost, or else when it is released. */
  ended(resource: string, heldMs: number): void;
}

export interface Listeners {
  readonly observe?: LeaseObserver;
  readonly measure?: LeaseMeasure;
}

/** When a term was asked for, and whether it lives with a session. */
type Answered = Hold & { readonly underSession?: boolean };

/** The events of a keeper. None is built without an observer. */
export class LeaseReports {
  readonly #clock: Clock;
  readonly #observe: LeaseObserver | undefined;
  readonly #measure: LeaseMeasure | undefined;

  constructor(clock: Clock, { observe = unobserved, measure }: Listeners) {
    this.#clock = clock;
    this.#measure = measure;
    this.#observe = observe === unobserved ? undefined : observers(observe);
  }

  answered(request: AcquireRequest, reply: AcquireReply, { since, maxHoldMs, underSession }: Answered): void {
    if (!this.#observe && !this.#measure) return;
    const { resource, holder, ttlMs } = request;
    const tookMs = this.#since(since);
    this.#measure?.answered(tookMs);
    if (reply.acquired && !underSession) this.#measure?.acquired(resource, ttlMs);
    if (!this.#observe) return;
    const bound = { ...(maxHoldMs !== undefined && { maxHoldMs }), ...(underSession && { underSession }) };
    if (reply.acquired) {
      this.#observe({ name: 'lease.acquired', resource, holder, fence: reply.fence, ttlMs, tookMs, ...bound });
    } else this.#observe({ name: 'lease.busy', resource, remainingMs: reply.remainingMs, tookMs });
  }

  unanswered({ resource }: AcquireRequest, error: unknown, sentAt: number): void {
    this.#observe?.({ name: 'lease.acquire-failed', resource, tookMs: this.#since(sentAt), error });
  }

  ttlChanged(lease: KeptLease): void {
    this.#measure?.acquired(lease.resource, lease.ttlMs);
    this.#observe?.({ name: 'lease.ttl-changed', ...term(lease), ttlMs: lease.ttlMs });
  }

  extended(lease: KeptLease): void {
    this.#observe?.({ name: 'lease.extended', ...term(lease) });
  }

  notExtended(leases: Iterable<KeptLease>, error: unknown): void {
    if (!this.#observe) return;
    for (const lease of leases) this.#observe({ name: 'lease.extend-failed', ...term(lease), error });
  }

  /** One event, whatever the number of leases. */
  sessionExtended({ session, size }: Reported): void {
    this.#observe?.({ name: 'session.extended', holder: session.holder, ttlMs: session.ttlMs, leases: size });
  }

  sessionNotExtended({ session, size }: Reported, error: unknown): void {
    this.#observe?.({ name: 'session.extend-failed', holder: session.holder, leases: size, error });
  }

  lost(lease: KeptLease, reason: LossReason): void {
    const heldMs = this.#since(lease.hold.since);
    this.#measure?.ended(lease.resource, heldMs);
    this.#observe?.({ name: 'lease.lost', ...term(lease), reason, heldMs });
  }

  released(lease: KeptLease, wasOurs: boolean): void {
    const heldMs = this.#ended(lease);
    const name = wasOurs ? 'lease.released' : 'lease.stale-release';
    this.#observe?.({ name, ...term(lease), heldMs });
  }

  notReleased(lease: KeptLease, error: unknown): void {
    const heldMs = this.#ended(lease);
    this.#observe?.({ name: 'lease.release-failed', ...term(lease), heldMs, error });
  }

  #ended(lease: KeptLease): number {
    const heldMs = this.#since(lease.hold.since);
    if (!lease.isLost) this.#measure?.ended(lease.resource, heldMs);
    return heldMs;
  }

  #since(monotonic: number): number {
    return this.#clock.monotonic() - monotonic;
  }
}

function term({ resource, holder, fence }: KeptLease): Pick<KeptLease, 'resource' | 'holder' | 'fence'> {
  return { resource, holder, fence };
}
