import type { CancelTimer, Clock } from '../base/clock.js';
import { isFinal } from '../base/errors.js';
import type { LossReason } from '../base/errors.js';
import { stopAt, trustedUntil } from '../store/grant.js';
import type { Term } from '../store/grant.js';
import type { LeaseSessions, Session, SessionReply, SessionRequest } from '../store/lease-sessions.js';
import type { AcquireReply } from '../store/lease-store.js';
import type { KeptLease, Trust } from './held-lease.js';
import type { LeaseReports } from './lease-reports.js';

export interface SessionOptions {
  readonly sessions: LeaseSessions;
  readonly clock: Clock;
  readonly reports: LeaseReports;
  /** Called before a reply or a deadline is applied: after a sleep of the machine the deadlines are wrong. */
  readonly look: () => void;
  readonly onRevoked: (lease: KeptLease) => void;
  readonly onLost: (session: KeptSession, reason: LossReason) => void;
}

/**
 * A session of this process, and the leases that live with it: one renewal, one deadline and one instant of trust for all of
 * them. Without a lease it has no timer, and is used again while it can be trusted.
 */
export class KeptSession implements Trust {
  readonly session: Session;
  readonly ttlMs: number;
  until = Number.NEGATIVE_INFINITY;
  readonly #options: SessionOptions;
  readonly #leases = new Map<string, KeptLease>();
  /** Taken terms by nonce, to be acknowledged with the next renewal. */
  readonly #revoked = new Map<string, Term>();
  #opening: Promise<void> | undefined;
  #isOpen = false;
  #isOver = false;
  #acquiring = 0;
  #renewAt = 0;
  #cancelRenewal: CancelTimer | undefined;
  #cancelRetry: CancelTimer | undefined;
  #cancelDeadline: CancelTimer | undefined;

  constructor(session: Session, options: SessionOptions) {
    this.session = session;
    this.ttlMs = session.ttlMs;
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get leases(): Iterable<KeptLease> {
    return this.#leases.values();
  }

  get size(): number {
    return this.#leases.size;
  }

  get #stopAt(): number {
    return stopAt({ trustedUntil: this.until, ttlMs: this.ttlMs });
  }

  isTrusted(now: number): boolean {
    return !this.#isOver && now < this.#stopAt;
  }

  /** Trusted, or still to be opened. */
  isUsable(now: number): boolean {
    return !this.#isOpen || this.isTrusted(now);
  }

  /** Opens it once, for all who ask. */
  open(): Promise<void> {
    return (this.#opening ??= this.#open());
  }

  async acquire(requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    this.#acquiring += 1;
    try {
      return await twice(() => this.#options.sessions.acquire(this.session, requests));
    } finally {
      this.#acquiring -= 1;
    }
  }

  add(lease: KeptLease): void {
    this.#leases.set(lease.resource, lease);
    if (this.#leases.size === 1) this.#arm();
  }

  remove(lease: KeptLease): void {
    if (this.has(lease)) this.#leases.delete(lease.resource);
    if (this.#leases.size === 0) this.#disarm();
  }

  has(lease: KeptLease): boolean {
    return this.#leases.get(lease.resource) === lease;
  }

  /** Whether a term was taken while the reply about it was under way. */
  wasRevoked({ nonce }: Term): boolean {
    return this.#revoked.has(nonce);
  }

  /** @throws when the store could not be asked; nothing is lost by that */
  async renewNow(): Promise<void> {
    const { sessions, clock, look, onLost } = this.#options;
    const sentAt = clock.monotonic();
    const acknowledged = [...this.#revoked.values()];
    const reply = await sessions.renew(this.session, acknowledged);
    look();
    if (this.#isOver) return;
    if (!reply.live) return onLost(this, 'refused');
    this.until = Math.max(this.until, trustedUntil(sentAt, this.ttlMs));
    this.#renewAt = sentAt + this.ttlMs / 3;
    this.#options.reports.sessionExtended(this);
    this.#heed(reply, acknowledged);
  }

  /** @returns the leases that lived with it */
  end(): KeptLease[] {
    this.#isOver = true;
    this.#disarm();
    const leases = [...this.#leases.values()];
    this.#leases.clear();
    return leases;
  }

  close(): Promise<boolean> {
    return this.#options.sessions.close(this.session);
  }

  async #open(): Promise<void> {
    let sentAt = 0;
    await twice(() => {
      sentAt = this.#options.clock.monotonic();
      return this.#options.sessions.open(this.session);
    });
    this.#isOpen = true;
    this.until = trustedUntil(sentAt, this.ttlMs);
    this.#renewAt = sentAt + this.ttlMs / 3;
  }

  #heed({ revoked }: SessionReply, acknowledged: readonly Term[]): void {
    // While a reply to an acquire is under way, the lease of a taken term may still be to come.
    if (this.#acquiring === 0) for (const { nonce } of acknowledged) this.#revoked.delete(nonce);
    for (const term of revoked) {
      this.#revoked.set(term.nonce, term);
      const lease = this.#leases.get(term.resource);
      if (lease?.nonce === term.nonce) this.#options.onRevoked(lease);
    }
  }

  #run(): void {
    const { clock } = this.#options;
    this.#renewAt = clock.monotonic() + this.ttlMs / 3;
    this.#armRenewal();
    void this.#renew();
  }

  async #renew(): Promise<void> {
    try {
      await this.renewNow();
    } catch (error) {
      this.#options.reports.sessionNotExtended(this, error);
      this.#retryLater();
    }
  }

  #retryLater(): void {
    if (this.#isOver || this.#leases.size === 0) return;
    this.#cancelRetry ??= this.#options.clock.after(this.ttlMs / 12, () => {
      this.#cancelRetry = undefined;
      void this.#renew();
    });
  }

  #arm(): void {
    this.#armRenewal();
    this.#armDeadline();
  }

  #armRenewal(): void {
    const { clock } = this.#options;
    this.#cancelRenewal?.();
    this.#cancelRenewal = clock.after(this.#renewAt - clock.monotonic(), () => this.#run());
  }

  /** A timer of its own, so that it fires even if a renewal hangs. Renewals don't move it; it is armed again when it fires. */
  #armDeadline(): void {
    const { clock } = this.#options;
    this.#cancelDeadline?.();
    this.#cancelDeadline = clock.after(this.#stopAt - clock.monotonic(), () => this.#onDeadline());
  }

  #onDeadline(): void {
    const { clock, look, onLost } = this.#options;
    look();
    if (this.#isOver) return;
    if (this.isTrusted(clock.monotonic())) this.#armDeadline();
    else onLost(this, 'expired');
  }

  #disarm(): void {
    for (const cancel of [this.#cancelRenewal, this.#cancelRetry, this.#cancelDeadline]) cancel?.();
    this.#cancelRetry = undefined;
  }
}

/** Retried once: a reply may get lost, and the same nonce gets the same answer. */
async function twice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isFinal(error)) throw error;
    return ask();
  }
}
