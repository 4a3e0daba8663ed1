import type { Clock } from '../base/clock.js';
import type { LossReason } from '../base/errors.js';
import type { AcquireReply, AcquireRequest } from '../store/lease-store.js';
import { observers, unobserved } from '../telemetry/lease-events.js';
import type { LeaseEvent, LeaseObserver } from '../telemetry/lease-events.js';
import type { Hold, KeptLease } from './held-lease.js';
import type { Session } from '../store/lease-sessions.js';

/** A session, and how many leases live with it. */
interface Reported {
  readonly session: Session;
  readonly size: number;
}

export interface Listeners {
  readonly observe?: LeaseObserver;
  /**
   * Hears the same before `observe`; alone, it hears of no renewal: there are thousands for each lease that begins or ends,
   * and who measures those has no use for them.
   */
  readonly measure?: LeaseObserver;
}

/** When a term was asked for, and whether it lives with a session. */
type Answered = Hold & { readonly underSession?: boolean };

/** The events of a keeper. None is built without an observer. */
export class LeaseReports {
  readonly #clock: Clock;
  readonly #observe: LeaseObserver;
  readonly #silent: boolean;
  readonly #silentRenewals: boolean;

  constructor(clock: Clock, { observe = unobserved, measure = unobserved }: Listeners) {
    this.#clock = clock;
    this.#silentRenewals = observe === unobserved;
    this.#silent = this.#silentRenewals && measure === unobserved;
    this.#observe = observers(measure, observe);
  }

  answered(request: AcquireRequest, reply: AcquireReply, { since, maxHoldMs, underSession }: Answered): void {
    if (this.#silent) return;
    const { resource, holder, ttlMs } = request;
    const tookMs = this.#since(since);
    const bound = { ...(maxHoldMs !== undefined && { maxHoldMs }), ...(underSession && { underSession }) };
    if (reply.acquired) {
      this.#notify({ name: 'lease.acquired', resource, holder, fence: reply.fence, ttlMs, tookMs, ...bound });
    } else this.#notify({ name: 'lease.busy', resource, remainingMs: reply.remainingMs, tookMs });
  }

  unanswered({ resource }: AcquireRequest, error: unknown, sentAt: number): void {
    this.#notify({ name: 'lease.acquire-failed', resource, tookMs: this.#since(sentAt), error });
  }

  ttlChanged(lease: KeptLease): void {
    if (!this.#silent) this.#notify({ name: 'lease.ttl-changed', ...term(lease), ttlMs: lease.ttlMs });
  }

  extended(lease: KeptLease): void {
    if (!this.#silentRenewals) this.#notify({ name: 'lease.extended', ...term(lease) });
  }

  notExtended(leases: Iterable<KeptLease>, error: unknown): void {
    if (this.#silent) return;
    for (const lease of leases) this.#notify({ name: 'lease.extend-failed', ...term(lease), error });
  }

  /** One event, whatever the number of leases. */
  sessionExtended({ session, size }: Reported): void {
    if (this.#silent) return;
    this.#notify({ name: 'session.extended', holder: session.holder, ttlMs: session.ttlMs, leases: size });
  }

  sessionNotExtended({ session, size }: Reported, error: unknown): void {
    this.#notify({ name: 'session.extend-failed', holder: session.holder, leases: size, error });
  }

  lost(lease: KeptLease, reason: LossReason): void {
    this.#notify({ name: 'lease.lost', ...term(lease), reason, heldMs: this.#since(lease.hold.since) });
  }

  released(lease: KeptLease, wasOurs: boolean): void {
    if (this.#silent) return;
    const name = wasOurs ? 'lease.released' : 'lease.stale-release';
    this.#notify({ name, ...term(lease), heldMs: this.#since(lease.hold.since) });
  }

  notReleased(lease: KeptLease, error: unknown): void {
    this.#notify({ name: 'lease.release-failed', ...term(lease), heldMs: this.#since(lease.hold.since), error });
  }

  #notify(event: LeaseEvent): void {
    this.#observe(event);
  }

  #since(monotonic: number): number {
    return this.#clock.monotonic() - monotonic;
  }
}

function term({ resource, holder, fence }: KeptLease): Pick<KeptLease, 'resource' | 'holder' | 'fence'> {
  return { resource, holder, fence };
}
