import type { CancelTimer, Clock } from '../base/clock.js';
import { Deadline } from './deadline.js';
import type { KeptLease, Lease } from './held-lease.js';
import type { LeaseStore } from '../store/lease-store.js';
import type { LeaseReports } from './lease-reports.js';

export interface RoundOptions {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly reports: LeaseReports;
  readonly ttlMs: number;
  /** Called when a reply arrives, before it is applied: after a sleep of the machine the deadlines are wrong. */
  readonly onReply: () => void;
  readonly onRefused: (lease: KeptLease) => void;
}

/**
 * Renews all leases of one TTL together: one timer, and one call per TTL/3.
 *
 * It doesn't wait for replies: the next round sends again after a call that hangs, and the keeper's deadline decides when a
 * holder must stop.
 */
export class RenewalRound {
  readonly #options: RoundOptions;
  readonly #leases = new Set<KeptLease>();
  readonly #failed = new Set<KeptLease>();
  readonly #due: Deadline;
  #cancelRetry: CancelTimer | undefined;

  constructor(options: RoundOptions) {
    this.#options = options;
    this.#due = new Deadline(options.clock, () => this.#run());
  }

  get leases(): Iterable<KeptLease> {
    return this.#leases;
  }

  get isIdle(): boolean {
    return this.#leases.size === 0;
  }

  has(lease: KeptLease): boolean {
    return this.#leases.has(lease);
  }

  /** @param since when its ttl was asked for: a slow reply leaves less time until the next renewal */
  add(lease: KeptLease, since: number): void {
    this.#leases.add(lease);
    this.#due.watch(since + this.#options.ttlMs / 3);
  }

  /** @returns whether no lease is left */
  remove(lease: KeptLease): boolean {
    this.#leases.delete(lease);
    this.#failed.delete(lease);
    if (!this.isIdle) return false;
    this.#due.clear();
    this.#cancelRetries();
    return true;
  }

  /** Cancels the timer that an idle round keeps. */
  close(): void {
    this.#due.cancel();
  }

  /**
   * Renews those of `leases` that belong to this round.
   * @throws when the store could not be asked
   */
  async renewNow(leases: readonly Lease[]): Promise<void> {
    if (this.isIdle) return;
    const ours = leases.filter((lease): lease is KeptLease => this.#leases.has(lease as KeptLease));
    if (ours.length > 0) await this.ask(ours);
  }

  #run(): void {
    this.#cancelRetries();
    const { clock, ttlMs } = this.#options;
    this.#due.watch(clock.monotonic() + ttlMs / 3);
    this.#failed.clear();
    void this.#renew([...this.#leases]);
  }

  async #renew(leases: readonly KeptLease[]): Promise<void> {
    try {
      await this.ask(leases);
    } catch (error) {
      this.#options.reports.notExtended(leases, error);
      this.#retryLater(leases);
    }
  }

  /**
   * Renews these with the ttl of this round, whether they belong to it or not.
   * @throws when the store could not be asked
   */
  async ask(leases: readonly KeptLease[]): Promise<void> {
    const { store, clock, ttlMs, onReply } = this.#options;
    const sentAt = clock.monotonic();
    const answers = await store.renew(leases, ttlMs);
    onReply();
    leases.forEach((lease, n) => this.#heed(lease, answers[n] ? sentAt : undefined));
  }

  #heed(lease: KeptLease, renewedAt: number | undefined): void {
    if (renewedAt === undefined) return this.#options.onRefused(lease);
    lease.renew(renewedAt, this.#options.ttlMs);
    this.#options.reports.extended(lease);
  }

  #retryLater(leases: readonly KeptLease[]): void {
    for (const lease of leases) if (this.#leases.has(lease)) this.#failed.add(lease);
    if (this.#failed.size === 0) return;
    this.#cancelRetry ??= this.#options.clock.after(this.#options.ttlMs / 12, () => this.#retry());
  }

  /** One by one: a batch fails as a whole, and one dead node of a cluster would cost the leases on all others. */
  #retry(): void {
    this.#cancelRetry = undefined;
    const leases = [...this.#failed];
    this.#failed.clear();
    for (const lease of leases) void this.#renew([lease]);
  }

  #cancelRetries(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }
}
