import { SetupError } from '../base/errors.js';
import type { LossReason } from '../base/errors.js';
import type { AcquireReply, AcquireRequest } from '../store/lease-store.js';
import { KeptLease, NOTHING } from './held-lease.js';
import type { AcquireAnswer, AcquireCall } from './held-lease.js';
import { KeptSession } from './kept-session.js';
import type { SessionOptions } from './kept-session.js';

export interface SessionLeasesOptions extends Omit<SessionOptions, 'onLost' | 'look'> {
  readonly holder: string;
  readonly newNonce: () => string;
  /** @returns whether the clock has jumped; all sessions are lost then */
  readonly look: () => boolean;
  /** How often all leases of the keeper have been released. */
  readonly generation: () => number;
  /** Releases terms that may have been granted and are not wanted. */
  readonly giveBack: (requests: readonly AcquireRequest[]) => Promise<void>;
}

/** The leases of a keeper that live with its sessions, one for each ttl. */
export class SessionLeases {
  readonly #options: SessionLeasesOptions;
  readonly #sessions = new Map<number, KeptSession>();

  constructor(options: SessionLeasesOptions) {
    this.#options = options;
  }

  /** @throws the store's error, after a second try; terms that may have been granted are released */
  async tryAcquire(asked: AcquireCall, ttlMs: number): Promise<AcquireAnswer[]> {
    const call = { ...asked, hooks: { ...asked.hooks, extend: refuseToExtend } };
    const { session, replies } = await this.#ask(call, ttlMs);
    if (isNothing(replies) && !session.isOver) {
      // An idle session is not renewed, so whether it is over shows only now.
      await session.renewNow().catch(() => {});
      if (session.isOver && call.generation === this.#options.generation()) {
        const again = await this.#ask(call, ttlMs);
        return this.#accept(call, again.session, again.replies);
      }
    }
    return this.#accept(call, session, replies);
  }

  /** @throws when the store could not be asked */
  async renewNow(leases: readonly KeptLease[]): Promise<void> {
    const sessions = [...this.#sessions.values()].filter((session) => leases.some((lease) => session.has(lease)));
    await Promise.all(sessions.map((session) => session.renewNow()));
  }

  loseAll(reason: LossReason): void {
    for (const session of [...this.#sessions.values()]) this.#lose(session, reason);
  }

  /**
   * Ends all sessions, and all leases with them.
   * @returns how many leases were still ours
   * @throws when the store could not be asked
   */
  async closeAll(): Promise<number> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    const ours = await Promise.all(sessions.map((session) => this.#close(session)));
    return ours.reduce((sum, n) => sum + n, 0);
  }

  async #close(session: KeptSession): Promise<number> {
    const { reports } = this.#options;
    const leases = session.end();
    for (const lease of leases) lease.end();
    try {
      const wasOurs = await session.close();
      for (const lease of leases) reports.released(lease, wasOurs);
      return wasOurs ? leases.length : 0;
    } catch (error) {
      for (const lease of leases) reports.notReleased(lease, error);
      throw error;
    }
  }

  async #ask(call: AcquireCall, ttlMs: number): Promise<{ session: KeptSession; replies: AcquireReply[] }> {
    try {
      const session = await this.#opened(ttlMs);
      if (!session.isOver && call.generation === this.#options.generation()) {
        return { session, replies: await session.acquire(call.requests) };
      }
      // `releaseAll` may have closed it before it was open.
      await session.close().catch(() => {});
      return { session, replies: call.requests.map(() => NOTHING) };
    } catch (error) {
      for (const request of call.requests) this.#options.reports.unanswered(request, error, call.hold.since);
      void this.#options.giveBack(call.requests);
      throw error;
    }
  }

  async #opened(ttlMs: number): Promise<KeptSession> {
    const known = this.#sessions.get(ttlMs);
    if (known && !known.isUsable(this.#options.clock.monotonic())) this.#lose(known, 'expired');
    const session = this.#sessions.get(ttlMs) ?? this.#newSession(ttlMs);
    try {
      await session.open();
    } catch (error) {
      this.#lose(session, 'expired');
      // It may be open, and would stay so for its ttl.
      void session.close().catch(() => {});
      throw error;
    }
    return session;
  }

  #newSession(ttlMs: number): KeptSession {
    const { holder, newNonce } = this.#options;
    const options = { ...this.#options, onLost: (lost: KeptSession, why: LossReason) => this.#lose(lost, why) };
    const session = new KeptSession({ nonce: newNonce(), holder, ttlMs }, options);
    this.#sessions.set(ttlMs, session);
    return session;
  }

  async #accept(call: AcquireCall, session: KeptSession, replies: readonly AcquireReply[]): Promise<AcquireAnswer[]> {
    const { clock, look, generation, reports, giveBack } = this.#options;
    const isWanted = !look() && call.generation === generation() && session.isTrusted(clock.monotonic());
    const hold = { ...call.hold, underSession: true };
    const unwanted: AcquireRequest[] = [];
    const answers = call.requests.map((request, n): AcquireAnswer => {
      const reply = replies[n] ?? NOTHING;
      if (reply.acquired && (!isWanted || session.wasRevoked(request))) unwanted.push(request);
      if (!reply.acquired || unwanted.at(-1) === request) return this.#refused(call, request, reply);
      reports.answered(request, reply, hold);
      const lease = new KeptLease(request, { trust: session, fence: reply.fence }, call);
      session.add(lease);
      return { acquired: true, lease };
    });
    if (unwanted.length > 0) await giveBack(unwanted);
    return answers;
  }

  #refused(call: AcquireCall, request: AcquireRequest, reply: AcquireReply): AcquireAnswer {
    const answer = reply.acquired ? NOTHING : reply;
    this.#options.reports.answered(request, answer, call.hold);
    return answer;
  }

  #lose(session: KeptSession, reason: LossReason): void {
    if (this.#sessions.get(session.ttlMs) === session) this.#sessions.delete(session.ttlMs);
    for (const lease of session.end()) {
      lease.lose(reason);
      this.#options.reports.lost(lease, reason);
    }
  }
}

function refuseToExtend({ resource, ttlMs }: KeptLease): Promise<never> {
  const message =
    `The lease on "${resource}" has the ttl of its session, ${ttlMs} ms, and can't have another. ` +
    'Acquire it by itself to extend it.';
  return Promise.reject(new SetupError(message));
}

/** What a session that is over is answered. */
function isNothing(replies: readonly AcquireReply[]): boolean {
  return replies.every((reply) => !reply.acquired && reply.remainingMs === 0);
}
