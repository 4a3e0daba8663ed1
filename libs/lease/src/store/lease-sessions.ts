import type { Fence } from '../base/fence.js';
import type { AcquireReply, AcquireRequest, Term } from './grant.js';

/**
 * A process's session with a store. Each term acquired under it is live while the session is, so renewing the session renews
 * all of them: one command, however many there are.
 */
export interface Session {
  /** Fresh per session. A session that has ended never comes back under the same nonce. */
  readonly nonce: string;
  /** The identity of the process. */
  readonly holder: string;
  readonly ttlMs: number;
}

/** A request for a term that has no ttl of its own. */
export type SessionRequest = Pick<AcquireRequest, 'resource' | 'nonce' | 'floor'>;

export interface SessionReply {
  /** `false`: the session is over, and with it every term under it. */
  readonly live: boolean;
  /**
   * Terms that were taken from this session and not acknowledged yet. A hint that may get lost: the holder of a term that was
   * taken learns it at its next claim at the latest.
   */
  readonly revoked: readonly Term[];
}

/** What a watcher of releases is called with when a session has ended: any resource may be free. No resource has this name. */
export const ALL_RELEASED = '*';

/**
 * Terms whose life is that of a session. A capability of a `LeaseStore`; its `acquire`, `release`, `evict`, `inspect` and `list`
 * work with both kinds of terms, and each kind keeps the other out. A term is over once its session is, so its release and its
 * eviction answer `false` from then on. `LeaseStore.renew` extends terms with a ttl of their own, and these only.
 *
 * Each call is idempotent on the nonce of the session or the term. A call rejects only when the store could not be asked.
 */
export interface LeaseSessions {
  /**
   * Opens the session for `ttlMs` from now; one that is open already is extended. Callers open a nonce once, and again only for
   * a reply that was lost: never after the session may have ended.
   */
  open(session: Session): Promise<void>;
  /**
   * Extends exactly this session to `ttlMs` from now. Never creates.
   * @param acknowledged revoked terms from earlier replies that the caller has dropped: they are not reported again
   */
  renew(session: Session, acknowledged: readonly Term[]): Promise<SessionReply>;
  /** Ends exactly this session with all its terms, and announces {@link ALL_RELEASED}; `false` for one that was over. */
  close(session: Session): Promise<boolean>;
  /**
   * Ends the session under which the resource is held with exactly this fence, for any holder, and announces
   * {@link ALL_RELEASED}: the takeover of everything that a dead process held. `false` where there is no such term, or it has
   * a ttl of its own. As with `evict`, a live holder is refused from then on: the fence decides, not the caller's belief.
   */
  closeOf(resource: string, fence: Fence): Promise<boolean>;
  /**
   * Acquires each resource whose term is over, or whose session is, and issues a fence in the same step. In the order given.
   * A term that another holder acquires at the same moment is `acquired: false`; `remainingMs` is what is left of the session or
   * the term that holds it. Where the session is over, nothing is acquired and `remainingMs` is 0.
   * @throws {FenceExhaustedError} as `LeaseStore.acquire`; terms acquired by the same call end with the session
   */
  acquire(session: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]>;
}
