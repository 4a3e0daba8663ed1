import { ClockJump, systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { LossReason } from '../base/errors.js';
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
import { LeaseRequests } from './lease-requests.js';
import { RenewalRounds } from './renewal-rounds.js';
import { SessionLeases, type SessionLeasesOptions } from './session-leases.js';

/** A call whose reply has come. */
interface Answered {
  readonly call: AcquireCall;
  /** When, in monotonic milliseconds. */
  readonly now: number;
  /** Whether its terms are still wanted. */
  readonly isWanted: boolean;
}

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
  readonly #rounds: RenewalRounds;
  readonly #sessions: SessionLeases | undefined;
  readonly #hooks: LeaseHooks = {
    letGo: async (kept) => (await this.#end([kept]))[0] ?? false,
    extend: (kept, ttlMs) => this.#extend(kept, ttlMs),
  };
  /** It has its own timer, so that it fires even if a renewal hangs. */
  readonly #deadline: Deadline;
  readonly #requests: LeaseRequests;
  #generation = 0;

  constructor(options: LeaseKeeperOptions) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#nonce = options.newNonce ?? randomNonce;
    this.#jump = new ClockJump(this.#clock);
    this.#deadline = new Deadline(this.#clock, () => this.#onDeadline());
    this.#reports = new LeaseReports(this.#clock, options);
    this.#requests = new LeaseRequests(this.#store, { clock: this.#clock, reports: this.#reports });
    this.#rounds = new RenewalRounds({
      store: this.#store,
      clock: this.#clock,
      reports: this.#reports,
      onReply: () => this.#look(this.#clock.monotonic()),
      onRefused: (kept) => this.#lose(kept, 'refused'),
    });
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
    const { ttlMs, holder = this.holder, floor = NO_FENCE, places, maxHoldMs, waitsAs } = options;
    checkTtl(ttlMs);
    const hold = this.#begin(maxHoldMs);
    const waits = waitsAs !== undefined;
    const request = { resource, nonce: waitsAs ?? this.#nonce(), holder, ttlMs, floor, places, waits };
    const call = { requests: [request], hold, generation: this.#generation, hooks: this.#hooks };
    this.#requests.begin();
    try {
      let reply: AcquireReply;
      try {
        reply = await this.#store.acquire(request);
      } catch (error) {
        reply = await this.#requests.askAgain(call, error, () => this.#store.acquire(request));
      }
      this.#reports.answered(request, reply, hold);
      if (!reply.acquired) return reply;
      const answer = this.#accept(this.#answered(call), request, reply);
      if (!answer.acquired) await this.#requests.giveBack([request]);
      return answer;
    } finally {
      this.#requests.end();
    }
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
    this.#requests.begin();
    try {
      return this.#sessions ? await this.#sessions.tryAcquire(call, ttlMs) : await this.#acquireEach(call);
    } finally {
      this.#requests.end();
    }
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
    await Promise.all([this.#rounds.renewNow(leases), this.#sessions?.renewNow(kept)]);
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
    const [ended, underSessions = 0] = await Promise.all([this.#end(this.#rounds.leases), this.#sessions?.closeAll()]);
    return ended.filter(Boolean).length + underSessions;
  }

  /** Ends the waiting of {@link TryAcquireOptions.waitsAs}. */
  leave(resource: string, waitsAs: string): void {
    void this.#requests.giveBack([{ resource, nonce: waitsAs }]);
  }

  /** Waits until no call is pending that may grant a lease or give one back, for at most two seconds. */
  settled(): Promise<void> {
    return this.#requests.settled();
  }

  #sessionOptions(sessions: LeaseSessions): SessionLeasesOptions {
    return {
      ...{ sessions, clock: this.#clock, reports: this.#reports, holder: this.holder, newNonce: this.#nonce },
      look: () => this.#look(this.#clock.monotonic()),
      generation: () => this.#generation,
      giveBack: (requests) => this.#requests.giveBack(requests),
      onRevoked: (kept) => this.#lose(kept, 'refused'),
    };
  }

  /** @returns the hold that the call which follows would begin */
  #begin(maxHoldMs?: number): Hold {
    const [since, at] = [this.#clock.monotonic(), this.#clock.now()];
    this.#look(since, at);
    return { since, at, maxHoldMs };
  }

  async #acquireEach(call: AcquireCall): Promise<AcquireAnswer[]> {
    const { requests, hold } = call;
    let replies: AcquireReply[];
    try {
      replies = await this.#requests.askFor(requests);
    } catch (error) {
      replies = await this.#requests.askAgain(call, error, () => this.#requests.askFor(requests));
    }
    requests.forEach((request, n) => this.#reports.answered(request, replies[n] ?? NOTHING, hold));
    const answered = this.#answered(call);
    const answers = requests.map((request, n) => this.#accept(answered, request, replies[n] ?? NOTHING));
    const unwanted = requests.filter((_, n) => replies[n]?.acquired && !answers[n]?.acquired);
    if (unwanted.length > 0) await this.#requests.giveBack(unwanted);
    return answers;
  }

  #answered(call: AcquireCall): Answered {
    const now = this.#clock.monotonic();
    const jumped = this.#look(now);
    // `releaseAll` meanwhile could not know of these terms, so they end here.
    return { call, now, isWanted: !jumped && call.generation === this.#generation };
  }

  /** @returns {@link NOTHING} for a term that came too late or is no longer wanted; the caller gives it back */
  #accept({ call, now, isWanted }: Answered, request: AcquireRequest, reply: AcquireReply): AcquireAnswer {
    if (!reply.acquired) return reply;
    const { ttlMs } = request;
    const trust = { ttlMs, until: trustedUntil(call.hold.since, ttlMs) };
    const tooLate = stopAt({ ttlMs, trustedUntil: trust.until }) <= now;
    if (!isWanted || tooLate) return NOTHING;
    const lease = new KeptLease(request, { trust, fence: reply.fence }, call);
    this.#join(lease, call.hold.since);
    return { acquired: true, lease };
  }

  #join(kept: KeptLease, since: number): void {
    this.#rounds.add(kept, since);
    this.#deadline.watch(kept.endsAt);
  }

  /**
   * Until the store has the new ttl, the lease is renewed with the old one, so that neither waits for the other; a renewal that
   * comes late shortens nothing.
   */
  async #extend(kept: KeptLease, ttlMs: number): Promise<void> {
    checkTtl(ttlMs);
    kept.throwIfOver();
    const since = this.#clock.monotonic();
    await this.#rounds.renewWith(kept, ttlMs);
    kept.throwIfOver();
    this.#rounds.remove(kept);
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

  #lose(kept: KeptLease, reason: LossReason): void {
    if (!this.#has(kept)) return;
    this.#drop(kept);
    kept.lose(reason);
    this.#reports.lost(kept, reason);
  }

  #has(kept: KeptLease): boolean {
    return kept.trust instanceof KeptSession ? kept.trust.has(kept) : this.#rounds.has(kept);
  }

  /** Called before the holder is notified: no timer is left for this lease, even if an abort listener throws. */
  #drop(kept: KeptLease): void {
    if (kept.trust instanceof KeptSession) return kept.trust.remove(kept);
    this.#rounds.remove(kept);
    if (this.#rounds.isIdle) this.#deadline.clear();
  }

  #look(monotonicNow: number, now?: number): boolean {
    const jumped = this.#jump.look(monotonicNow, now);
    if (jumped) for (const kept of this.#rounds.leases) this.#lose(kept, 'clock-jump');
    if (jumped) this.#sessions?.loseAll('clock-jump');
    return jumped;
  }

  #onDeadline(): void {
    const now = this.#clock.monotonic();
    this.#look(now);
    const ended = this.#rounds.leases.filter(({ endsAt }) => endsAt <= now);
    for (const kept of ended) this.#lose(kept, mustStop(kept, now) ? 'expired' : 'max-hold');
    // Not Math.min(...): 150,000 arguments overflow the stack.
    const earliest = this.#rounds.leases.reduce((at, kept) => Math.min(at, kept.endsAt), Infinity);
    if (earliest < Infinity) this.#deadline.watch(earliest);
  }
}
