import { ClockJump, systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { isFinal, type LossReason } from '../base/errors.js';
import { NO_FENCE } from '../base/fence.js';
import { processIdentity, randomNonce } from '../base/identity.js';
import type { AcquireReply, AcquireRequest, LeaseStore } from '../store/lease-store.js';
import type { LeaseKeeperOptions, TryAcquireManyOptions, TryAcquireOptions, WantedLease } from './keeper-options.js';
import { Deadline } from './deadline.js';
import { KeptLease, NOTHING } from './held-lease.js';
import type { AcquireAnswer, AcquireCall, Hold, Lease, LeaseHooks } from './held-lease.js';
import { KeptSession } from './kept-session.js';
import { LeaseReports } from './lease-reports.js';
import { checkTtl } from '../store/lease-request.js';
import { mustStop, stopAt, trustedUntil } from '../store/grant.js';
import type { LeaseSessions } from '../store/lease-sessions.js';
import { RenewalRound } from './renewal-round.js';
import { SessionLeases, type SessionLeasesOptions } from './session-leases.js';

/** Leases have few different TTLs; idle rounds are kept, without timers, for the next lease of their TTL. */
const IDLE_ROUNDS = 8;

/**
 * Keeps the leases of one process: renews them together, and notifies each holder at once when its lease is lost.
 *
 * A lost lease is **not** released in the background. The last sixth of its TTL is the time that the work needs
 * to stop; a release by the keeper would let another holder in while it still runs. The holder may release it after that.
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
  readonly #sessions: SessionLeases | undefined;
  readonly #hooks: LeaseHooks = {
    letGo: async (kept) => (await this.#end([kept]))[0] ?? false,
    extend: (kept, ttlMs) => this.#extend(kept, ttlMs),
  };
  /** It has its own timer, so that it fires even if a renewal hangs. */
  readonly #deadline: Deadline;
  #generation = 0;

  constructor(options: LeaseKeeperOptions) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#nonce = options.newNonce ?? randomNonce;
    this.#jump = new ClockJump(this.#clock);
    this.#deadline = new Deadline(this.#clock, () => this.#onDeadline());
    this.#reports = new LeaseReports(this.#clock, options);
    this.holder = options.holder ?? processIdentity();
    const { sessions } = options.store;
    this.#sessions = sessions && new SessionLeases(this.#sessionOptions(sessions));
  }

  /**
   * Tries once, without waiting for the present holder.
   * @throws {SetupError} for a ttl outside its bounds
   * @throws {FenceExhaustedError}
   * @throws the store's error, after a second try; a term that may have been granted is released
   */
  async tryAcquire(resource: string, options: TryAcquireOptions): Promise<AcquireAnswer> {
    const { ttlMs, holder = this.holder, floor = NO_FENCE, places, maxHoldMs } = options;
    checkTtl(ttlMs);
    const hold = this.#begin(maxHoldMs);
    const requests = [{ resource, nonce: this.#nonce(), holder, ttlMs, floor, places }];
    const call = { requests, hold, generation: this.#generation, hooks: this.#hooks };
    const [answer = NOTHING] = await this.#accept(call, await this.#ask(call, false));
    return answer;
  }

  /**
   * Tries many at once, without waiting for the present holders: one call if the store supports it. With a store that has
   * sessions they live with one of this keeper, which costs one renewal for all of them.
   * @returns an answer for each, in the order given
   * @throws as {@link tryAcquire}; leases that may have been granted are released
   */
  async tryAcquireMany(
    wanted: readonly WantedLease[],
    { ttlMs, onLost }: TryAcquireManyOptions,
  ): Promise<AcquireAnswer[]> {
    checkTtl(ttlMs);
    if (wanted.length === 0) return [];
    const hold = this.#begin();
    const { holder } = this;
    const requests = wanted.map(({ resource, floor = NO_FENCE }): AcquireRequest => ({
      resource,
      nonce: this.#nonce(),
      holder,
      ttlMs,
      floor,
    }));
    const call = { requests, hold, generation: this.#generation, hooks: { ...this.#hooks, onLost } };
    return this.#sessions
      ? await this.#sessions.tryAcquire(call, ttlMs)
      : this.#accept(call, await this.#ask(call, true));
  }

  /** Ends these terms in one batch: `release()` of each in the order given. */
  release(leases: readonly Lease[]): Promise<boolean[]> {
    return this.#end(leases as readonly KeptLease[]);
  }

  /**
   * Renews these now, in one call per TTL, in addition to the periodic renewals.
   * @returns for each, in the order given, whether it is still held; if not, it is lost
   * @throws when the store could not be asked; nothing is lost by that
   */
  async renewNow(leases: readonly Lease[]): Promise<boolean[]> {
    const kept = leases as readonly KeptLease[];
    const rounds = [...this.#rounds.values()].map((round) => round.renewNow(leases));
    await Promise.all([...rounds, this.#sessions?.renewNow(kept)]);
    return kept.map((lease) => this.#has(lease));
  }

  /**
   * Ends all terms in one batch, those being acquired included; for a shutdown, when the work has stopped. The terms of a
   * session end with it.
   * @returns how many were still ours
   * @throws when the store could not be asked; the terms then end by themselves within their ttl
   */
  async releaseAll(): Promise<number> {
    this.#generation += 1;
    const [ended, underSessions = 0] = await Promise.all([this.#end([...this.#kept]), this.#sessions?.closeAll()]);
    return ended.filter(Boolean).length + underSessions;
  }

  #sessionOptions(sessions: LeaseSessions): SessionLeasesOptions {
    return {
      ...{ sessions, clock: this.#clock, reports: this.#reports, holder: this.holder, newNonce: this.#nonce },
      look: () => this.#look(this.#clock.monotonic()),
      generation: () => this.#generation,
      giveBack: (requests) => this.#giveBack(requests),
      onRevoked: (kept) => this.#lose(kept, 'refused'),
    };
  }

  /** @returns the hold that the call which follows would begin */
  #begin(maxHoldMs?: number): Hold {
    const since = this.#clock.monotonic();
    this.#look(since);
    return { since, at: this.#clock.now(), maxHoldMs };
  }

  /** Retried once: a reply may get lost, and the same nonce gets the same term and the same fence. */
  async #ask({ requests, hold }: AcquireCall, isBatch: boolean): Promise<AcquireReply[]> {
    const store = this.#store;
    for (let tries = 1; ; tries += 1) {
      try {
        const replies =
          isBatch && store.acquireMany
            ? await store.acquireMany(requests)
            : await Promise.all(requests.map((request) => store.acquire(request)));
        requests.forEach((request, n) => this.#reports.answered(request, replies[n] ?? NOTHING, hold));
        return replies;
      } catch (error) {
        if (tries === 1 && !isFinal(error)) continue;
        for (const request of requests) this.#reports.unanswered(request, error, hold.since);
        // Whether a term has begun is unknown; one that has would block the resource for its ttl. An error that is final for
        // one request of a batch says nothing about the others.
        if (requests.length > 1 || !isFinal(error)) void this.#giveBack(requests);
        throw error;
      }
    }
  }

  async #giveBack(requests: readonly AcquireRequest[]): Promise<void> {
    await this.#store.release(requests).catch(() => {});
  }

  async #accept(call: AcquireCall, replies: readonly AcquireReply[]): Promise<AcquireAnswer[]> {
    const now = this.#clock.monotonic();
    const jumped = this.#look(now);
    // `releaseAll` meanwhile could not know of these terms, so they end here.
    const wanted = !jumped && call.generation === this.#generation;
    const unwanted: AcquireRequest[] = [];
    const answers = call.requests.map((request, n): AcquireAnswer => {
      const reply = replies[n] ?? NOTHING;
      if (!reply.acquired) return reply;
      const { ttlMs } = request;
      const trust = { ttlMs, until: trustedUntil(call.hold.since, ttlMs) };
      const tooLate = stopAt({ ttlMs, trustedUntil: trust.until }) <= now;
      if (wanted && !tooLate) {
        return { acquired: true, lease: this.#keep(new KeptLease(request, trust, { ...call, fence: reply.fence })) };
      }
      unwanted.push(request);
      return NOTHING;
    });
    if (unwanted.length > 0) await this.#giveBack(unwanted);
    return answers;
  }

  #keep(kept: KeptLease): Lease {
    this.#kept.add(kept);
    this.#join(kept, kept.hold.since);
    return kept;
  }

  #join(kept: KeptLease, since: number): void {
    this.#round(kept.ttlMs).add(kept, since);
    this.#deadline.watch(kept.endsAt);
  }

  /**
   * Until the store has the new ttl, the lease is renewed with the old one, so that neither waits for the other; a renewal that
   * comes late shortens nothing.
   */
  async #extend(kept: KeptLease, ttlMs: number): Promise<void> {
    checkTtl(ttlMs);
    kept.signal.throwIfAborted();
    const since = this.#clock.monotonic();
    // A round of its own, without a timer: whether one with this ttl is needed shows when the store has answered.
    await this.#newRound(ttlMs).ask([kept]);
    kept.signal.throwIfAborted();
    this.#leave(kept);
    kept.trust.ttlMs = ttlMs;
    this.#join(kept, since);
    this.#reports.ttlChanged(kept);
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
    this.#rounds.set(ttlMs, this.#newRound(ttlMs));
    return this.#round(ttlMs);
  }

  #newRound(ttlMs: number): RenewalRound {
    return new RenewalRound({
      store: this.#store,
      clock: this.#clock,
      reports: this.#reports,
      ttlMs,
      onReply: () => this.#look(this.#clock.monotonic()),
      onRefused: (kept) => this.#lose(kept, 'refused'),
    });
  }

  #lose(kept: KeptLease, reason: LossReason): void {
    if (!this.#has(kept)) return;
    this.#drop(kept);
    kept.lose(reason);
    this.#reports.lost(kept, reason);
  }

  #has(kept: KeptLease): boolean {
    return kept.trust instanceof KeptSession ? kept.trust.has(kept) : this.#kept.has(kept);
  }

  /** Called before the holder is notified: no timer is left for this lease, even if an abort listener throws. */
  #drop(kept: KeptLease): void {
    if (kept.trust instanceof KeptSession) return kept.trust.remove(kept);
    this.#kept.delete(kept);
    this.#leave(kept);
    if (this.#kept.size === 0) this.#deadline.clear();
  }

  #leave(kept: KeptLease): void {
    const isIdle = this.#rounds.get(kept.ttlMs)?.remove(kept);
    if (isIdle && this.#rounds.size > IDLE_ROUNDS) this.#rounds.delete(kept.ttlMs);
  }

  #look(monotonicNow: number): boolean {
    const jumped = this.#jump.look(monotonicNow);
    if (jumped) for (const kept of [...this.#kept]) this.#lose(kept, 'clock-jump');
    if (jumped) this.#sessions?.loseAll('clock-jump');
    return jumped;
  }

  #onDeadline(): void {
    const now = this.#clock.monotonic();
    this.#look(now);
    const ended = [...this.#kept].filter(({ endsAt }) => endsAt <= now);
    for (const kept of ended) this.#lose(kept, mustStop(kept, now) ? 'expired' : 'max-hold');
    // Not Math.min(...): 150,000 arguments overflow the stack.
    const earliest = [...this.#kept].reduce((at, kept) => Math.min(at, kept.endsAt), Infinity);
    if (this.#kept.size > 0) this.#deadline.watch(earliest);
  }
}
