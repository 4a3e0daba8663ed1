import { z } from 'zod';
import { SetupError } from '../base/errors.js';
import { NO_FENCE, formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { Term } from '../store/grant.js';
import { checkRequest } from '../store/lease-request.js';
import type { LeaseSessions, Session, SessionReply, SessionRequest } from '../store/lease-sessions.js';
import type { AcquireReply } from '../store/lease-store.js';
import { nextFence } from '../store/next-fence.js';
import type { ConsulAgent, ConsulClient } from './consul-client.js';
import type { ConsulKeys, ResourceKeys, SessionKeys } from './consul-keys.js';
import {
  commit,
  compareAndSet,
  createSession,
  destroySession,
  lock,
  MAX_OPERATIONS,
  readBelow,
  remove,
  renewSession,
  set,
} from './consul-operations.js';
import type { Operation, StoredKey } from './consul-operations.js';
import { endSession, parsedAs, readTerm, wholeSeconds, writeTerm } from './consul-term.js';

/** Each further look means that terms have changed since the one before. */
const MAX_READS = 10;
/** A request is three operations. */
const MAX_TOGETHER = MAX_OPERATIONS / 3;
const OVER: AcquireReply = { acquired: false, remainingMs: 0 };

/** A session as it was read. */
interface StoredSession {
  /** Consul's own. */
  readonly id: string;
  /** Its ttl. */
  readonly seconds: number;
  readonly revoked: readonly Term[];
}

type Replies = Map<number, AcquireReply>;

/** A request with its place in the answer. */
interface Asked {
  readonly place: number;
  readonly request: SessionRequest;
  readonly keys: ResourceKeys;
}

interface Free extends Asked {
  readonly counter: StoredKey | undefined;
}

const value = z.object({ holder: z.string(), seconds: z.number() });

/**
 * A session is one of Consul's, and its terms are the keys that it has locked. So is a key under its nonce, by which any
 * process finds it, and so are the notes of the terms that were taken: all of them end together.
 *
 * A renewal is a read by way of a majority and a renewal of Consul's session, whatever the number of terms; why the read comes
 * first is said at `ConsulLeaseStore`.
 */
export class ConsulSessions implements LeaseSessions {
  readonly #client: ConsulClient;
  readonly #keys: ConsulKeys;

  constructor(client: ConsulClient, keys: ConsulKeys) {
    this.#client = client;
    this.#keys = keys;
  }

  /**
   * @throws {ConsulError}
   * @throws {SetupError} for a ttl longer than Consul grants
   */
  async open(session: Session): Promise<void> {
    checkRequest({ ...session, floor: NO_FENCE });
    const seconds = wholeSeconds(session.ttlMs);
    const { own } = this.#keys.session(session.nonce);
    await this.#client.ask(async (agent) => {
      for (let looks = 0; looks < MAX_READS; looks += 1) {
        const found = await this.#find(agent, session.nonce);
        if (found) return void (await renewSession(agent, found.id));
        const id = await createSession(agent, seconds);
        const text = JSON.stringify({ holder: session.holder, seconds });
        if (await commit(agent, [lock(own, id, text)])) return;
        // The same request came twice, and the other one was quicker.
        await endSession(agent, id);
      }
    });
  }

  /**
   * @throws {ConsulError}
   * @throws {SetupError} for a ttl longer than the one that it was opened with, as a session of Consul keeps its ttl
   */
  async renew(session: Session, acknowledged: readonly Term[]): Promise<SessionReply> {
    checkRequest({ ...session, floor: NO_FENCE });
    return this.#client.ask(async (agent) => {
      const found = await this.#find(agent, session.nonce);
      if (!found) return { live: false, revoked: [] };
      if (found.seconds < wholeSeconds(session.ttlMs)) throw tooShort(session, found);
      const revoked = await this.#drop(agent, { session, found, acknowledged });
      const live = await renewSession(agent, found.id);
      return { live, revoked: live ? revoked : [] };
    });
  }

  /** @throws {ConsulError} */
  async close({ nonce }: Session): Promise<boolean> {
    return this.#close(async () => nonce);
  }

  /** @throws {ConsulError} */
  async closeOf(resource: string, fence: Fence): Promise<boolean> {
    const keys = this.#keys.of(resource);
    return this.#close(async (agent) => {
      const term = readTerm((await readBelow(agent, [keys.all])).get(keys.term));
      return term?.fence === fence ? term.under : undefined;
    });
  }

  /** @throws {ConsulError} */
  async acquire(session: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    for (const request of requests) checkRequest({ ...request, ttlMs: session.ttlMs });
    const all = requests.map((request, place) => ({ place, request, keys: this.#keys.of(request.resource) }));
    const replies: Replies = new Map();
    await this.#client.ask(async (agent) => {
      for (let looks = 0; looks < MAX_READS && replies.size < all.length; looks += 1) {
        const found = await this.#find(agent, session.nonce);
        if (!found) return replies.clear();
        const free = await look(agent, { session, open: firstOfEach(all, replies), replies });
        // Together until another holder was quicker with one of them.
        const together = looks === 0 ? MAX_TOGETHER : 1;
        await Promise.all(parts(free, together).map((part) => this.#begin(agent, { session, found, part, replies })));
      }
    });
    return requests.map((_, place) => replies.get(place) ?? OVER);
  }

  async #close(nonceOf: (agent: ConsulAgent) => Promise<string | undefined>): Promise<boolean> {
    let asked = false;
    return this.#client.ask(async (agent) => {
      const nonce = await nonceOf(agent);
      const found = nonce === undefined ? undefined : await this.#find(agent, nonce);
      // Over after a reply that got lost: this call has ended it.
      if (!found && !asked) return false;
      asked = true;
      if (found) await destroySession(agent, found.id);
      await commit(agent, [set(this.#keys.allReleased)]);
      return true;
    });
  }

  /** All of them or none; then something has changed since it was read. */
  async #begin(
    agent: ConsulAgent,
    begin: { session: Session; found: StoredSession; part: readonly Free[]; replies: Replies },
  ): Promise<void> {
    const { session, found, part, replies } = begin;
    const { holder, nonce: under } = session;
    const terms = part.map(({ request, counter }) => {
      const last = counter ? parseFence(counter.value) : NO_FENCE;
      return nextFence(request, last, this.#client.settings.clock.now());
    });
    const writes = part.flatMap(({ request: { nonce }, keys, counter }, n): Operation[] => {
      const fence = terms[n] ?? NO_FENCE;
      const text = writeTerm({ nonce, holder, fence, seconds: found.seconds, under });
      // As where a term with a ttl of its own begins.
      const count = compareAndSet(keys.counter, formatFence(fence), counter?.modifiedAt ?? 0);
      return [count, remove(keys.released), lock(keys.term, found.id, text)];
    });
    if (!(await commit(agent, writes))) return;
    for (const [n, { place }] of part.entries()) replies.set(place, { acquired: true, fence: terms[n] ?? NO_FENCE });
  }

  async #find(agent: ConsulAgent, nonce: string): Promise<StoredSession | undefined> {
    const keys = this.#keys.session(nonce);
    const found = await readBelow(agent, [keys.all]);
    const own = found.get(keys.own);
    if (!own?.session) return undefined;
    const { seconds } = parsedAs(value, own);
    return { id: own.session, seconds, revoked: this.#revoked(keys, found) };
  }

  #revoked(keys: SessionKeys, found: ReadonlyMap<string, StoredKey>): Term[] {
    const notes = [...found.values()].filter(({ key }) => key.startsWith(keys.notes));
    return notes.map(({ key, value: nonce }) => ({ resource: this.#keys.noted(keys, key), nonce }));
  }

  /** Removes the notes of the terms that were acknowledged, and gives back the others. */
  async #drop(
    agent: ConsulAgent,
    { session, found, acknowledged }: { session: Session; found: StoredSession; acknowledged: readonly Term[] },
  ): Promise<Term[]> {
    const keys = this.#keys.session(session.nonce);
    const known = new Set(acknowledged.map(keyOf));
    const over = found.revoked.filter((term) => known.has(keyOf(term)));
    for (const part of parts(over, MAX_OPERATIONS)) {
      await commit(
        agent,
        part.map(({ resource }) => remove(this.#keys.note(keys, resource))),
      );
    }
    return found.revoked.filter((term) => !known.has(keyOf(term)));
  }
}

/** Answers what is held, and gives back what is free. */
async function look(
  agent: ConsulAgent,
  { session, open, replies }: { session: Session; open: readonly Asked[]; replies: Replies },
): Promise<Free[]> {
  const found = await readBelow(
    agent,
    open.map(({ keys }) => keys.all),
  );
  return open.flatMap((asked) => {
    const { place, request, keys } = asked;
    const term = readTerm(found.get(keys.term));
    if (!term) return [{ ...asked, counter: found.get(keys.counter) }];
    const isOwn = term.nonce === request.nonce && term.under === session.nonce;
    replies.set(
      place,
      isOwn ? { acquired: true, fence: term.fence } : { acquired: false, remainingMs: 1_000 * term.seconds },
    );
    return [];
  });
}

/** Those without a reply; of several for one resource the first, as the others see what became of it. */
function firstOfEach(all: readonly Asked[], replies: Replies): Asked[] {
  const open = all.filter(({ place }) => !replies.has(place));
  return [...new Map(open.toReversed().map((asked) => [asked.request.resource, asked])).values()];
}

function parts<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}

function keyOf({ resource, nonce }: Term): string {
  return JSON.stringify([resource, nonce]);
}

function tooShort({ nonce, ttlMs }: Session, { seconds }: StoredSession): SetupError {
  return new SetupError(
    `Expected the session "${nonce}" to be renewed for at most ${seconds} s, with which it was opened, got ${ttlMs} ms: ` +
      'open another session for a longer ttl.',
  );
}
