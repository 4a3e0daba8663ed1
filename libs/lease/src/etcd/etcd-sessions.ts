import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { NO_FENCE, formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { SetupError } from '../base/errors.js';
import type { Term } from '../store/grant.js';
import { checkRequest } from '../store/lease-request.js';
import { ALL_RELEASED } from '../store/lease-sessions.js';
import type { LeaseSessions, Session, SessionReply, SessionRequest } from '../store/lease-sessions.js';
import type { AcquireReply } from '../store/lease-store.js';
import { nextFence } from '../store/next-fence.js';
import type { EtcdClient, EtcdMember } from './etcd-client.js';
import type { EtcdKeys } from './etcd-keys.js';
import { fromBase64 } from './etcd-replies.js';
import type { KeyValue } from './etcd-replies.js';
import { grantAs, keepAlive, readTerm, remaining, revokeNow, wholeSeconds, writeTerm } from './etcd-term.js';
import type { StoredTerm } from './etcd-term.js';
import { ABSENT, commit, created, modified, put, read, readBelow, remove } from './etcd-transaction.js';

/** Each further look means that terms have changed since the one before. */
const MAX_READS = 10;
/** A request compares two keys and puts two, and a transaction holds a hundred of each. */
const MAX_TOGETHER = 50;
const OVER: AcquireReply = { acquired: false, remainingMs: 0 };

/** A request with its place in the answer. */
interface Asked {
  readonly place: number;
  readonly request: SessionRequest;
}

/** A free resource, as it was read. */
interface Free extends Asked {
  readonly counter: KeyValue | undefined;
}

/**
 * A session is an etcd lease, and its terms are the keys attached to it. Its id follows from the nonce, so that any process
 * finds it, and a request to open it that comes twice opens it once.
 *
 * A renewal is a read by way of a majority and a keep-alive, whatever the number of terms; why the read comes first is said at
 * `EtcdLeaseStore`. It reads the notes of the terms that were taken, which are attached to the lease as well.
 */
export class EtcdSessions implements LeaseSessions {
  readonly #client: EtcdClient;
  readonly #keys: EtcdKeys;
  readonly #clock: Clock;

  constructor({ client, keys, clock }: { client: EtcdClient; keys: EtcdKeys; clock: Clock }) {
    this.#client = client;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** @throws {EtcdError} */
  async open(session: Session): Promise<void> {
    const lease = this.#leaseOf(session);
    const seconds = wholeSeconds(session.ttlMs);
    await this.#client.ask(async (member) => {
      if (!(await grantAs(member, lease, seconds))) await keepAlive(member, lease);
    });
  }

  /**
   * @throws {EtcdError}
   * @throws {SetupError} for a ttl longer than the one that it was opened with, as an etcd lease keeps its length
   */
  async renew(session: Session, acknowledged: readonly Term[]): Promise<SessionReply> {
    const lease = this.#leaseOf(session);
    return this.#client.ask(async (member) => {
      const notes = await this.#notes(member, session, acknowledged);
      const seconds = await keepAlive(member, lease);
      if (seconds > 0 && seconds < wholeSeconds(session.ttlMs)) throw tooLong(session, seconds);
      return seconds > 0 ? { live: true, revoked: notes } : { live: false, revoked: [] };
    });
  }

  /** @throws {EtcdError} */
  async close(session: Session): Promise<boolean> {
    const lease = this.#leaseOf(session);
    let asked = false;
    return this.#client.ask(async (member) => {
      const ended = (await revokeNow(member, lease)) || asked;
      // Over after a reply that got lost: this call has ended it.
      asked = true;
      if (ended) await this.#announce(member);
      return ended;
    });
  }

  /** @throws {EtcdError} */
  async closeOf(resource: string, fence: Fence): Promise<boolean> {
    const key = this.#keys.term(resource);
    let asked = false;
    return this.#client.ask(async (member) => {
      const [found] = await read(member, [key]);
      const term = readTerm(key, found);
      const isIt = term?.fence === fence && term.session !== undefined;
      const ended = (isIt && (await revokeNow(member, term.lease))) || asked;
      asked ||= isIt;
      if (ended) await this.#announce(member);
      return ended;
    });
  }

  /** @throws {EtcdError} */
  async acquire(session: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    const lease = this.#leaseOf(session);
    for (const request of requests) checkRequest({ ...request, ttlMs: session.ttlMs });
    const replies = new Map<number, AcquireReply>();
    await this.#client.ask(async (member) => {
      for (let looks = 0; looks < MAX_READS && replies.size < requests.length; looks += 1) {
        if ((await remaining(member, lease)) === null) return replies.clear();
        const open = firstOfEach(requests, replies);
        const free = await this.#look(member, { session, open, replies });
        // Together until another holder was quicker with one of them.
        const together = looks === 0 ? MAX_TOGETHER : 1;
        await Promise.all(parts(free, together).map((part) => this.#begin(member, { session, lease, part, replies })));
      }
    });
    return requests.map((_, place) => replies.get(place) ?? OVER);
  }

  /** Answers what is held, and gives back what is free. */
  async #look(
    member: EtcdMember,
    { session, open, replies }: { session: Session; open: readonly Asked[]; replies: Map<number, AcquireReply> },
  ): Promise<Free[]> {
    const keys = open.map(({ request }) => this.#keys.term(request.resource));
    const counters = open.map(({ request }) => this.#keys.counter(request.resource));
    const found = await read(member, [...keys, ...counters]);
    const left = leftOnce(member);
    const free: Free[] = [];
    const answering = open.map(async (asked, n) => {
      const term = readTerm(keys[n] ?? '', found[n]);
      if (!term) free.push({ ...asked, counter: found[open.length + n] });
      else if (isOwn(term, session, asked.request)) replies.set(asked.place, { acquired: true, fence: term.fence });
      else replies.set(asked.place, { acquired: false, remainingMs: (await left(term.lease)) ?? 0 });
    });
    await Promise.all(answering);
    return free;
  }

  /** All of them or none; then something has changed since it was read. */
  async #begin(
    member: EtcdMember,
    asked: { session: Session; lease: string; part: readonly Free[]; replies: Map<number, AcquireReply> },
  ): Promise<void> {
    const { session, lease, part, replies } = asked;
    const terms = part.map(({ request, counter }) => ({
      request,
      seen: counter?.mod_revision ?? ABSENT,
      fence: nextFence(request, counter ? parseFence(fromBase64(counter.value)) : NO_FENCE, this.#clock.now()),
    }));
    const { holder, nonce } = session;
    const seconds = wholeSeconds(session.ttlMs);
    const won = await commit(member, {
      compare: terms.flatMap(({ request: { resource }, seen }) => [
        created(this.#keys.term(resource), ABSENT),
        modified(this.#keys.counter(resource), seen),
      ]),
      success: terms.flatMap(({ request, fence }) => [
        put(
          this.#keys.term(request.resource),
          writeTerm({ nonce: request.nonce, holder, fence, seconds, session: nonce }),
          lease,
        ),
        put(this.#keys.counter(request.resource), formatFence(fence)),
      ]),
    });
    if (won) for (const [n, { fence }] of terms.entries()) replies.set(part[n]?.place ?? 0, { acquired: true, fence });
  }

  /** Which terms were taken, without those that are reported no more. */
  async #notes(member: EtcdMember, { nonce }: Session, acknowledged: readonly Term[]): Promise<Term[]> {
    const notes = await readBelow(member, this.#keys.notes(nonce));
    const terms = notes.map(({ key, value }) => ({ key, term: this.#keys.noted(nonce, { key, value }) }));
    const known = new Set(acknowledged.map((term) => JSON.stringify([term.resource, term.nonce])));
    const isKnown = ({ term }: { term: Term }) => known.has(JSON.stringify([term.resource, term.nonce]));
    for (const over of parts(terms.filter(isKnown), MAX_TOGETHER)) {
      await commit(member, { compare: [], success: over.map(({ key }) => remove(key)) });
    }
    return terms.filter((note) => !isKnown(note)).map(({ term }) => term);
  }

  async #announce(member: EtcdMember): Promise<void> {
    await commit(member, { compare: [], success: [put(this.#keys.released, ALL_RELEASED)] });
  }

  /**
   * The id of its etcd lease: 63 bits of a hash, never 0, with which etcd chooses one itself.
   * @throws {RangeError}
   */
  #leaseOf(session: Session): string {
    checkRequest({ ...session, floor: NO_FENCE });
    const hash = createHash('sha256').update(this.#keys.notes(session.nonce)).digest();
    return `${(hash.readBigUInt64BE() >> 1n) | 1n}`;
  }
}

/** Whether this is what the request would get: its nonce alone could be that of a term with a ttl of its own. */
function isOwn(term: StoredTerm, session: Session, request: SessionRequest): boolean {
  return term.nonce === request.nonce && term.session === session.nonce;
}

/** Those without a reply; of several for one resource the first, as a transaction can put a key once. */
function firstOfEach(requests: readonly SessionRequest[], replies: ReadonlyMap<number, AcquireReply>): Asked[] {
  const first = new Map<string, Asked>();
  for (const [place, request] of requests.entries()) {
    if (!replies.has(place) && !first.has(request.resource)) first.set(request.resource, { place, request });
  }
  return [...first.values()];
}

/** What is left of an etcd lease, asked once for all of its terms. */
export function leftOnce(member: EtcdMember): (lease: string) => Promise<number | null> {
  const known = new Map<string, Promise<number | null>>();
  return (lease) => {
    const left = known.get(lease) ?? remaining(member, lease);
    known.set(lease, left);
    return left;
  };
}

function parts<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}

function tooLong({ nonce, ttlMs }: Session, seconds: number): SetupError {
  return new SetupError(
    `Expected the session "${nonce}" to be renewed for at most ${seconds} s, with which it was opened, got ${ttlMs} ms: ` +
      'open another session for a longer ttl.',
  );
}
