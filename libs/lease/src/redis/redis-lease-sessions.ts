import { formatFence, NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { Term } from '../store/grant.js';
import { partOf, redisChannel, redisKeysOf } from '../store/keys.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import { ALL_RELEASED } from '../store/lease-sessions.js';
import type { LeaseSessions, Session, SessionReply, SessionRequest } from '../store/lease-sessions.js';
import type { AcquireReply } from '../store/lease-store.js';
import { waitForReplicas } from './replicated-write.js';
import { loadScripts } from './redis-script.js';
import type { RedisLeaseStoreOptions } from './redis-lease-options.js';
import { TEXTS } from '../lua/texts.js';

const scripts = loadScripts(TEXTS, [
  'close-session',
  'find-session',
  'look-at-session',
  'open-session',
  'renew-session',
  'revoke-term',
]);

/** Sessions that ended lately, to be named with the next requests: what they held is then taken in one call. */
const MAX_NAMED = 8;
/** Of the notes about taken terms: a renewal reads them in one script. */
const MAX_NOTES = 500;

export interface LiveSession {
  readonly holder: string;
  readonly remainingMs: number;
}

/** What the sessions need of the store whose terms they carry. */
export interface SessionTerms {
  /** The key of a lease. */
  readonly lease: (resource: string) => string;
  readonly acquire: (session: Session, requests: readonly SessionRequest[]) => Promise<AcquireReply[]>;
}

/**
 * Sessions in Redis: each a key that expires. A term names its session, in another slot of a cluster, so no script reads both:
 * the client looks at the session first, and replaces a term only while that still names a session that is over.
 */
export class RedisLeaseSessions implements LeaseSessions {
  readonly #options: RedisLeaseStoreOptions;
  readonly #terms: SessionTerms;
  readonly #key: (session: string) => string;
  readonly #released: string;
  readonly #over = new Set<string>();
  #ended = '';

  constructor(options: RedisLeaseStoreOptions, terms: SessionTerms) {
    this.#options = options;
    this.#terms = terms;
    this.#key = redisKeysOf(partOf(options.kind, 'session'), options);
    this.#released = redisChannel(options, partOf(options.kind, 'released'));
  }

  /** Waits for the replicas that a lease has to reach: a failover that lost the session would end all of its terms. */
  async open({ nonce, holder, ttlMs }: Session): Promise<void> {
    checkRequest({ nonce, ttlMs, floor: NO_FENCE });
    const { redis, replication } = this.#options;
    const [script, keys, args] = [scripts['open-session'], [this.#key(nonce)], [ttlMs, holder]];
    if (replication) await waitForReplicas(replication.redis, { script, keys, args, ...replication });
    else await script.run(redis, keys, args);
  }

  async renew({ nonce, ttlMs }: Session, acknowledged: readonly Term[]): Promise<SessionReply> {
    checkWhole('ttlMs', ttlMs, 1);
    const args = [ttlMs, ...acknowledged.flatMap((term) => [term.resource, term.nonce])];
    const reply = await scripts['renew-session'].run(this.#options.redis, [this.#key(nonce)], args);
    return Array.isArray(reply) ? { live: true, revoked: termsOf(reply.map(String)) } : { live: false, revoked: [] };
  }

  async close({ nonce }: Session): Promise<boolean> {
    const args = [this.#released, ALL_RELEASED];
    const reply = await scripts['close-session'].run(this.#options.redis, [this.#key(nonce)], args);
    this.#remember(nonce);
    return reply === 'DONE';
  }

  async closeOf(resource: string, fence: Fence): Promise<boolean> {
    const keys = [this.#terms.lease(resource)];
    const found = await scripts['find-session'].run(this.#options.redis, keys, [formatFence(fence)]);
    return typeof found === 'string' && this.close({ nonce: found, holder: '', ttlMs: 1 });
  }

  async acquire(session: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    for (const { nonce, floor } of requests) checkRequest({ nonce, floor, ttlMs: session.ttlMs });
    if (requests.length > 0 && (await this.look(session.nonce))) return this.#terms.acquire(session, requests);
    return requests.map(() => ({ acquired: false, remainingMs: 0 }));
  }

  /** `undefined` for a session that is over. */
  async look(nonce: string): Promise<LiveSession | undefined> {
    const reply = await scripts['look-at-session'].run(this.#options.redis, [this.#key(nonce)], []);
    if (Array.isArray(reply)) return { holder: String(reply[0]), remainingMs: Number(reply[1]) };
    this.#remember(nonce);
    return undefined;
  }

  /** Many resources have few sessions: each is looked at once. */
  async lookAtEach(nonces: Iterable<string>): Promise<ReadonlyMap<string, LiveSession | undefined>> {
    const looks = [...new Set(nonces)].map(async (nonce) => [nonce, await this.look(nonce)] as const);
    return new Map(await Promise.all(looks));
  }

  /** Leaves a note for the holder of a session; it may get lost. @returns whether the session is live */
  async revoke(nonce: string, term: Term): Promise<boolean> {
    const args = [term.resource, term.nonce, MAX_NOTES];
    return (await scripts['revoke-term'].run(this.#options.redis, [this.#key(nonce)], args)) === 'DONE';
  }

  /** The sessions that ended lately, with blanks between them. */
  get ended(): string {
    return this.#ended;
  }

  /** A session that is over never comes back. */
  #remember(nonce: string): void {
    this.#over.delete(nonce);
    this.#over.add(nonce);
    for (const oldest of this.#over) {
      if (this.#over.size <= MAX_NAMED) break;
      this.#over.delete(oldest);
    }
    this.#ended = [...this.#over].join(' ');
  }
}

function termsOf(words: readonly string[]): Term[] {
  return Array.from({ length: words.length / 2 }, (_, n) => ({
    resource: words[2 * n] ?? '',
    nonce: words[2 * n + 1] ?? '',
  }));
}
