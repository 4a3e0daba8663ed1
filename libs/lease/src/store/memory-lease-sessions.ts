import type { Fence } from '../base/fence.js';
import type { Term } from './grant.js';
import { checkRequest, checkWhole } from './lease-request.js';
import type { LeaseSessions, Session, SessionReply, SessionRequest } from './lease-sessions.js';
import type { AcquireReply, AcquireRequest } from './lease-store.js';

export interface StoredSession {
  readonly holder: string;
  ttlMs: number;
  expiresAt: number;
  /** Terms that were taken from it: resource to nonce. */
  readonly revoked: Map<string, string>;
}

/** What the sessions need of the store whose terms they carry. */
export interface SessionTerms {
  now(): number;
  acquire(request: AcquireRequest, session: string): AcquireReply;
  /** The session under which the resource is held with exactly this fence. */
  sessionOf(resource: string, fence: Fence): string | undefined;
  announceAll(): void;
}

/** The sessions of a {@link MemoryLeaseStore}, by nonce. */
export class MemoryLeaseSessions implements LeaseSessions {
  readonly #terms: SessionTerms;
  readonly #sessions = new Map<string, StoredSession>();

  constructor(terms: SessionTerms) {
    this.#terms = terms;
  }

  async open({ nonce, holder, ttlMs }: Session): Promise<void> {
    checkRequest({ nonce, ttlMs, floor: 0 as Fence });
    if (this.#extend(nonce, ttlMs)) return;
    this.#sessions.set(nonce, { holder, ttlMs, expiresAt: this.#terms.now() + ttlMs, revoked: new Map() });
  }

  async renew({ nonce, ttlMs }: Session, acknowledged: readonly Term[]): Promise<SessionReply> {
    checkWhole('ttlMs', ttlMs, 1);
    const session = this.#extend(nonce, ttlMs);
    if (!session) return { live: false, revoked: [] };
    for (const term of acknowledged) {
      if (session.revoked.get(term.resource) === term.nonce) session.revoked.delete(term.resource);
    }
    return { live: true, revoked: [...session.revoked].map(([resource, term]) => ({ resource, nonce: term })) };
  }

  async close({ nonce }: Session): Promise<boolean> {
    return this.#close(nonce);
  }

  async closeOf(resource: string, fence: Fence): Promise<boolean> {
    const nonce = this.#terms.sessionOf(resource, fence);
    return nonce !== undefined && this.#close(nonce);
  }

  async acquire(session: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    const { nonce, holder, ttlMs } = session;
    const asked = requests.map((request) => ({ ...request, holder, ttlMs }));
    asked.forEach(checkRequest);
    return asked.map((request) =>
      this.live(nonce) ? this.#terms.acquire(request, nonce) : { acquired: false, remainingMs: 0 },
    );
  }

  live(nonce: string): StoredSession | undefined {
    const session = this.#sessions.get(nonce);
    if (session && session.expiresAt > this.#terms.now()) return session;
    // One that is over stays over, whatever its clock does.
    this.#sessions.delete(nonce);
    return undefined;
  }

  /** More than twice the ttl is only left when the clock went back. */
  remaining(session: StoredSession): number {
    const now = this.#terms.now();
    if (session.expiresAt - now > 2 * session.ttlMs) session.expiresAt = now + session.ttlMs;
    return session.expiresAt - now;
  }

  /** Leaves a note for the session whose term was taken. */
  revoke(nonce: string, term: Term): void {
    this.live(nonce)?.revoked.set(term.resource, term.nonce);
  }

  save(): ReadonlyMap<string, StoredSession> {
    return structuredClone(this.#sessions);
  }

  restore(saved: ReadonlyMap<string, StoredSession>): void {
    this.#sessions.clear();
    for (const [nonce, session] of structuredClone(saved)) this.#sessions.set(nonce, session);
  }

  #extend(nonce: string, ttlMs: number): StoredSession | undefined {
    const session = this.live(nonce);
    if (session) Object.assign(session, { ttlMs, expiresAt: this.#terms.now() + ttlMs });
    return session;
  }

  #close(nonce: string): boolean {
    if (!this.live(nonce)) return false;
    this.#sessions.delete(nonce);
    this.#terms.announceAll();
    return true;
  }
}
