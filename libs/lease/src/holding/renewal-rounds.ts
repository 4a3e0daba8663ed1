import type { KeptLease, Lease } from './held-lease.js';
import { RenewalRound, type RoundOptions } from './renewal-round.js';

/** Idle rounds that are kept for the next lease of their TTL: there are few different TTLs. */
const IDLE_ROUNDS = 8;

/** The leases of a keeper that live with no session, in a round for each TTL. */
export class RenewalRounds {
  readonly #options: Omit<RoundOptions, 'ttlMs'>;
  readonly #rounds = new Map<number, RenewalRound>();

  constructor(options: Omit<RoundOptions, 'ttlMs'>) {
    this.#options = options;
  }

  get leases(): KeptLease[] {
    return [...this.#rounds.values()].flatMap(({ leases }) => [...leases]);
  }

  get isIdle(): boolean {
    for (const { isIdle } of this.#rounds.values()) if (!isIdle) return false;
    return true;
  }

  has(lease: KeptLease): boolean {
    return this.#rounds.get(lease.ttlMs)?.has(lease) ?? false;
  }

  /** @param since when its ttl was asked for */
  add(lease: KeptLease, since: number): void {
    const round = this.#rounds.get(lease.ttlMs) ?? this.#newRound(lease.ttlMs);
    this.#rounds.set(lease.ttlMs, round);
    round.add(lease, since);
  }

  remove(lease: KeptLease): void {
    const round = this.#rounds.get(lease.ttlMs);
    if (!round?.remove(lease) || this.#rounds.size <= IDLE_ROUNDS) return;
    round.close();
    this.#rounds.delete(lease.ttlMs);
  }

  /** @throws when the store could not be asked */
  async renewNow(leases: readonly Lease[]): Promise<void> {
    await Promise.all([...this.#rounds.values()].map((round) => round.renewNow(leases)));
  }

  /**
   * Renews a lease with a ttl that it doesn't have yet: in a round of its own, without a timer, because whether one with this ttl
   * is needed shows when the store has answered.
   * @throws when the store could not be asked
   */
  renewWith(lease: KeptLease, ttlMs: number): Promise<void> {
    return this.#newRound(ttlMs).ask([lease]);
  }

  #newRound(ttlMs: number): RenewalRound {
    return new RenewalRound({ ...this.#options, ttlMs });
  }
}
