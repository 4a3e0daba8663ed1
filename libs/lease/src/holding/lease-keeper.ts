import { randomUUID } from 'node:crypto';
import { systemClock } from '../clock.js';
import type { CancelTimer, Clock } from '../clock.js';
import { isFinal } from '../errors.js';
import type { LossReason } from '../errors.js';
import { NO_FENCE } from '../fence.js';
import type { Fence } from '../fence.js';
import { processIdentity } from '../identity.js';
import type { AcquireReply, AcquireRequest, LeaseStore } from '../store/lease-store.js';
import { ClockJump } from './clock-jump.js';
import { KeptLease } from './held-lease.js';
import type { AcquireAnswer, Lease } from './held-lease.js';
import { LeaseReports } from './lease-reports.js';
import type { Listeners } from './lease-reports.js';
import { checkTtl } from './lease-request.js';
import { mustStop, stopAt, trustedUntil } from './lease.js';
import { RenewalRound } from './renewal-round.js';

export interface LeaseKeeperOptions extends Listeners {
  readonly store: LeaseStore;
  readonly clock?: Clock;
  /** Who this process is; see `processIdentity`. */
  readonly holder?: string;
  /** A fresh nonce for each term. */
  readonly randomUUID?: () => string;
}

export interface TryAcquireOptions {
  /** Defaults to the keeper's own. */
  readonly holder?: string | undefined;
  /** 300 ms to 1 h. */
  readonly ttlMs: number;
  /** The highest fence known to have been accepted for the resource; default: none. */
  readonly floor?: Fence | undefined;
  /** How many may hold it at once, where the store is a semaphore's. */
  readonly places?: number | undefined;
}

/** Whoever takes a lease asks for few different ttls; a round for each stays, without timers, for the next lease of it. */
const IDLE_ROUNDS = 8;

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
  readonly #reports: LeaseReports;
  readonly #kept = new Set<KeptLease>();
  readonly #rounds = new Map<number, RenewalRound>();
  readonly #letGo = (kept: KeptLease) => this.#release(kept);
  #deadline: { readonly at: number; readonly cancel: CancelTimer } | undefined;
  #generation = 0;

  constructor(options: LeaseKeeperOptions) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#nonce = options.randomUUID ?? randomUUID;
    this.#jump = new ClockJump(this.#clock);
    this.#reports = new LeaseReports(this.#clock, options);
    this.holder = options.holder ?? processIdentity();
  }

  /**
   * Asks once, without waiting for the present holder.
   * @throws {SetupError} for a ttl outside its bounds
   * @throws {FenceExhaustedError}
   * @throws when the store could not be asked
   */
  async tryAcquire(resource: string, options: TryAcquireOptions): Promise<AcquireAnswer> {
    const { ttlMs, holder = this.holder, floor = NO_FENCE, places } = options;
    checkTtl(ttlMs);
    const sentAt = this.#clock.monotonic();
    this.#look(sentAt);
    const generation = this.#generation;
    const nonce = this.#nonce();
    const request: AcquireRequest = { resource, nonce, holder, ttlMs, floor, places };
    const reply = await this.#ask(request, sentAt);
    if (!reply.acquired) return reply;
    const grant = { resource, nonce, holder, fence: reply.fence, ttlMs, trustedUntil: trustedUntil(sentAt, ttlMs) };
    const now = this.#clock.monotonic();
    const jumped = this.#look(now);
    const tooLate = mustStop(grant, now);
    // `releaseAll` meanwhile: what it couldn't know of must not outlive it.
    const wanted = !jumped && !tooLate && generation === this.#generation;
    if (wanted) return { acquired: true, lease: this.#keep(new KeptLease(grant, sentAt, this.#letGo)) };
    await this.#giveBack(request);
    return { acquired: false, remainingMs: 0 };
  }

  /**
   * Renews these now, in one call per ttl, beside the renewals that come by themselves.
   * @returns for each in the order given whether it is still held; the ones that aren't are lost
   * @throws when the store could not be asked; nothing is lost by that
   */
  async renewNow(leases: readonly Lease[]): Promise<boolean[]> {
    await Promise.all([...this.#rounds.values()].map((round) => round.renewNow(leases)));
    return leases.map((lease) => this.#kept.has(lease as KeptLease));
  }

  /**
   * Ends all terms in one batch, those being acquired included; for a shutdown, when the work has stopped.
   * @returns how many were still ours
   * @throws when the store could not be asked; the terms then end by themselves within their ttl
   */
  async releaseAll(): Promise<number> {
    this.#generation += 1;
    return (await this.#end([...this.#kept])).filter(Boolean).length;
  }

  /** A reply may get lost, and the nonce makes asking again harmless: the same term, the same fence. */
  async #ask(request: AcquireRequest, sentAt: number): Promise<AcquireReply> {
    for (let tries = 1; ; tries += 1) {
      try {
        const reply = await this.#store.acquire(request);
        this.#reports.answered(request, reply, sentAt);
        return reply;
      } catch (error) {
        if (tries === 1 && !isFinal(error)) continue;
        this.#reports.unanswered(request, error, sentAt);
        // Whether a term has begun is unknown; if so, it is nobody's, and would block the resource for its ttl.
        if (!isFinal(error)) void this.#giveBack(request);
        throw error;
      }
    }
  }

  async #giveBack(request: AcquireRequest): Promise<void> {
    await this.#store.release([request]).catch(() => {});
  }

  #keep(kept: KeptLease): Lease {
    this.#kept.add(kept);
    this.#round(kept.ttlMs).add(kept);
    this.#watch(stopAt(kept));
    return kept;
  }

  async #release(kept: KeptLease): Promise<boolean> {
    const [released = false] = await this.#end([kept]);
    return released;
  }

  async #end(ending: readonly KeptLease[]): Promise<boolean[]> {
    for (const kept of ending) {
      this.#drop(kept);
      kept.end();
    }
    if (ending.length === 0) return [];
    try {
      const answers = await this.#store.release(ending);
      ending.forEach((kept, n) => this.#reports.released(kept, answers[n] ?? false));
      return answers;
    } catch (error) {
      for (const kept of ending) this.#reports.notReleased(kept, error);
      throw error;
    }
  }

  #round(ttlMs: number): RenewalRound {
    const known = this.#rounds.get(ttlMs);
    if (known) return known;
    const round = new RenewalRound({
      store: this.#store,
      clock: this.#clock,
      reports: this.#reports,
      ttlMs,
      onReply: () => this.#look(this.#clock.monotonic()),
      onRefused: (kept) => this.#lose(kept, 'refused'),
    });
    this.#rounds.set(ttlMs, round);
    return round;
  }

  #lose(kept: KeptLease, reason: LossReason): void {
    if (!this.#kept.has(kept)) return;
    this.#drop(kept);
    kept.lose(reason);
    this.#reports.lost(kept, reason);
  }

  /** Before the holder is told: whatever an abort listener does or throws, no timer keeps running for this lease. */
  #drop(kept: KeptLease): void {
    this.#kept.delete(kept);
    const isIdle = this.#rounds.get(kept.ttlMs)?.remove(kept);
    if (isIdle && this.#rounds.size > IDLE_ROUNDS) this.#rounds.delete(kept.ttlMs);
    if (this.#kept.size === 0) this.#unwatch();
  }

  #look(monotonicNow: number): boolean {
    const jumped = this.#jump.look(monotonicNow);
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
    const now = this.#clock.monotonic();
    this.#look(now);
    for (const kept of [...this.#kept]) if (mustStop(kept, now)) this.#lose(kept, 'expired');
    if (this.#kept.size > 0) this.#watch(Math.min(...[...this.#kept].map(stopAt)));
  }
}
