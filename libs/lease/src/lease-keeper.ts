import { randomUUID } from 'node:crypto';
import { ClockJump } from './clock-jump.js';
import { systemClock } from './clock.js';
import type { CancelTimer, Clock } from './clock.js';
import { FencepostError } from './errors.js';
import type { LossReason } from './errors.js';
import { NO_FENCE } from './fence.js';
import type { Fence } from './fence.js';
import { KeptLease } from './held-lease.js';
import type { HeldLease, NotAcquired } from './held-lease.js';
import { processIdentity } from './identity.js';
import { checkTtl } from './lease-request.js';
import type { AcquireReply, AcquireRequest, LeaseStore } from './lease-store.js';
import { mustStop, stopAt, trustedUntil } from './lease.js';
import type { Lease } from './lease.js';
import { RenewalRound } from './renewal-round.js';

export interface LeaseKeeperOptions {
  readonly store: LeaseStore;
  readonly clock?: Clock;
  /** Who this process is; see `processIdentity`. */
  readonly holder?: string;
  /** A fresh nonce for each term. */
  readonly randomUUID?: () => string;
}

export interface TryAcquireOptions {
  /** Defaults to the keeper's own. */
  readonly holder?: string;
  /** 300 ms to 1 h. */
  readonly ttlMs: number;
  /** The highest fence known to have been accepted for the resource; default: none. */
  readonly floor?: Fence;
}

/**
 * Keeps the leases of one process: renews them together, and tells each holder at once when its right to act has ended.
 *
 * A lease that was lost is **not** released in the background. The sixth of its ttl that is left is the time the work needs
 * to stop; a release by the keeper would let somebody else in while it still runs. The holder may release it then.
 */
export class LeaseKeeper {
  readonly holder: string;
  readonly #store: LeaseStore;
  readonly #clock: Clock;
  readonly #nonce: () => string;
  readonly #jump: ClockJump;
  readonly #kept = new Set<KeptLease>();
  readonly #rounds = new Map<number, RenewalRound>();
  #deadline: { readonly at: number; readonly cancel: CancelTimer } | undefined;
  #generation = 0;

  constructor(options: LeaseKeeperOptions) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#nonce = options.randomUUID ?? randomUUID;
    this.#jump = new ClockJump(this.#clock);
    this.holder = options.holder ?? processIdentity();
  }

  /**
   * Asks once, without waiting for the present holder.
   * @throws {SetupError} for a ttl outside its bounds
   * @throws {FenceExhaustedError}
   * @throws when the store could not be asked
   */
  async tryAcquire(resource: string, options: TryAcquireOptions): Promise<HeldLease | NotAcquired> {
    const { holder = this.holder, ttlMs, floor = NO_FENCE } = options;
    checkTtl(ttlMs);
    this.#look();
    const generation = this.#generation;
    const request: AcquireRequest = { resource, nonce: this.#nonce(), holder, ttlMs, floor };
    const sentAt = this.#clock.monotonic();
    const reply = await this.#ask(request);
    if (!reply.acquired) return reply;
    const { nonce } = request;
    const lease = { resource, nonce, holder, fence: reply.fence, ttlMs, trustedUntil: trustedUntil(sentAt, ttlMs) };
    const jumped = this.#look();
    const tooLate = mustStop(lease, this.#clock.monotonic());
    // `releaseAll` meanwhile: what it couldn't know of must not outlive it.
    if (!jumped && !tooLate && generation === this.#generation) return this.#keep(lease, sentAt);
    await this.#giveBack(request);
    return { acquired: false, remainingMs: 0 };
  }

  /**
   * Ends all terms in one batch, those being acquired included; for a shutdown, when the work has stopped.
   * @returns how many were still ours
   * @throws when the store could not be asked; the terms then end by themselves within their ttl
   */
  async releaseAll(): Promise<number> {
    this.#generation += 1;
    const kept = [...this.#kept];
    for (const lease of kept) this.#drop(lease, () => lease.end());
    if (kept.length === 0) return 0;
    const answers = await this.#store.release(kept.map(({ lease }) => lease));
    return answers.filter(Boolean).length;
  }

  /** A reply may get lost, and the nonce makes asking again harmless: the same term, the same fence. */
  async #ask(request: AcquireRequest): Promise<AcquireReply> {
    try {
      return await this.#store.acquire(request);
    } catch (error) {
      if (error instanceof FencepostError) throw error;
    }
    try {
      return await this.#store.acquire(request);
    } catch (error) {
      // Whether a term has begun is unknown; if so, it is nobody's, and would block the resource for its ttl.
      void this.#giveBack(request);
      throw error;
    }
  }

  async #giveBack(request: AcquireRequest): Promise<void> {
    await this.#store.release([request]).catch(() => {});
  }

  #keep(lease: Lease, sentAt: number): HeldLease {
    const kept = new KeptLease(lease, (ended) => this.#release(ended));
    this.#kept.add(kept);
    this.#round(lease.ttlMs).add(kept, sentAt);
    this.#watch(stopAt(lease));
    return kept;
  }

  async #release(kept: KeptLease): Promise<boolean> {
    this.#drop(kept, () => kept.end());
    const [released = false] = await this.#store.release([kept.lease]);
    return released;
  }

  #round(ttlMs: number): RenewalRound {
    const known = this.#rounds.get(ttlMs);
    if (known) return known;
    const round = new RenewalRound({
      store: this.#store,
      clock: this.#clock,
      ttlMs,
      onReply: () => this.#look(),
      onRefused: (kept) => this.#lose(kept, 'refused'),
    });
    this.#rounds.set(ttlMs, round);
    return round;
  }

  #lose(kept: KeptLease, reason: LossReason): void {
    this.#drop(kept, () => kept.lose(reason));
  }

  /** Timers first: whatever an abort listener does or throws, nothing keeps running for this lease. */
  #drop(kept: KeptLease, tell: () => void): void {
    this.#kept.delete(kept);
    if (this.#rounds.get(kept.lease.ttlMs)?.remove(kept)) this.#rounds.delete(kept.lease.ttlMs);
    if (this.#kept.size === 0) this.#unwatch();
    tell();
  }

  #look(): boolean {
    const jumped = this.#jump.look();
    if (jumped) for (const kept of [...this.#kept]) this.#lose(kept, 'clock-jump');
    return jumped;
  }

  /**
   * The deadline has a timer of its own, so that it also comes when a renewal hangs. One for all leases, armed for the
   * earliest; renewals don't move it, it looks again when it fires.
   */
  #watch(at: number): void {
    if (this.#deadline && this.#deadline.at <= at) return;
    this.#unwatch();
    const cancel = this.#clock.after(at - this.#clock.monotonic(), () => this.#onDeadline());
    this.#deadline = { at, cancel };
  }

  #unwatch(): void {
    this.#deadline?.cancel();
    this.#deadline = undefined;
  }

  #onDeadline(): void {
    this.#unwatch();
    this.#look();
    const now = this.#clock.monotonic();
    for (const kept of [...this.#kept]) if (mustStop(kept.lease, now)) this.#lose(kept, 'expired');
    if (this.#kept.size > 0) this.#watch(Math.min(...[...this.#kept].map(({ lease }) => stopAt(lease))));
  }
}
