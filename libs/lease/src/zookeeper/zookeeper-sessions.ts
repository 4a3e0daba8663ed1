import { SetupError } from '../base/errors.js';
import { NO_FENCE, formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { Term } from '../store/grant.js';
import { checkRequest } from '../store/lease-request.js';
import type { LeaseSessions, Session, SessionReply, SessionRequest } from '../store/lease-sessions.js';
import type { AcquireReply } from '../store/lease-store.js';
import { nextFence } from '../store/next-fence.js';
import type { ZookeeperClient, ZookeeperServer } from './zookeeper-client.js';
import { BAD_VERSION, NO_NODE, ZookeeperError } from './zookeeper-error.js';
import { create, readTransaction, setData, transaction } from './zookeeper-operations.js';
import type { Access, Node, Operation } from './zookeeper-operations.js';
import type { ZookeeperPaths } from './zookeeper-paths.js';
import { closeIn, openIn, readSession, renewIn, unlessExpired } from './zookeeper-session-node.js';
import type { StoredSession } from './zookeeper-session-node.js';
import { readNodes, readTerm, writeTerm } from './zookeeper-term.js';
import type { StoredTerm } from './zookeeper-term.js';

/** Each further look means that something has changed since the one before. */
const MAX_READS = 10;
/** A request is two writes, and a transaction holds up to 1 MB. */
const MAX_TOGETHER = 100;
const OVER: AcquireReply = { acquired: false, remainingMs: 0 };

export interface ZookeeperSessionsOptions {
  readonly client: ZookeeperClient;
  readonly paths: ZookeeperPaths;
  readonly access: Access;
  /** What is left of each term. */
  readonly remaining: (server: ZookeeperServer, terms: readonly (StoredTerm | undefined)[]) => Promise<number[]>;
}

type Replies = Map<number, AcquireReply>;

/** A request with its place in the answer. */
interface Asked {
  readonly place: number;
  readonly request: SessionRequest;
}

interface Free extends Asked {
  readonly counter: Node | undefined;
}

/** What a request would write. */
interface NewTerm {
  readonly place: number;
  readonly fence: Fence;
  readonly writes: readonly Operation[];
}

/**
 * A session is one of ZooKeeper's, and its terms are ephemeral nodes of it. A node under its nonce holds what continues it, so
 * that any process can renew or end it, and the notes of the terms that were taken.
 *
 * A renewal is a read, and one connection with one write, whatever the number of terms. Calls about one session take turns: each
 * continues it on a connection of its own, which takes it away from the one before.
 */
export class ZookeeperSessions implements LeaseSessions {
  readonly #options: ZookeeperSessionsOptions;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(options: ZookeeperSessionsOptions) {
    this.#options = options;
  }

  /**
   * @throws {ZookeeperError}
   * @throws {SetupError} for a ttl longer than ZooKeeper grants
   */
  async open(session: Session): Promise<void> {
    checkRequest({ ...session, floor: NO_FENCE });
    const { paths, access } = this.#options;
    const path = paths.session(session.nonce);
    await this.#ask(session, async (server, found) => {
      if (found) return (await renewIn(server, path, { found, acknowledged: [] })) === BAD_VERSION ? AGAIN : undefined;
      const refused = await openIn(server, { path, asked: session, access });
      if (refused === NO_NODE) await paths.make(server, access);
      return refused === undefined ? undefined : AGAIN;
    });
  }

  /**
   * @throws {ZookeeperError}
   * @throws {SetupError} for a ttl longer than the one that it was opened with, as a session keeps its timeout
   */
  async renew(session: Session, acknowledged: readonly Term[]): Promise<SessionReply> {
    checkRequest({ ...session, floor: NO_FENCE });
    const path = this.#options.paths.session(session.nonce);
    const revoked = await this.#ask(session, async (server, found) => {
      if (!found) return undefined;
      if (found.session.timeoutMs < session.ttlMs) throw tooShort(session, found);
      const result = await renewIn(server, path, { found, acknowledged });
      return typeof result === 'number' ? AGAIN : result;
    });
    return revoked ? { live: true, revoked } : { live: false, revoked: [] };
  }

  /** @throws {ZookeeperError} */
  async close(session: Session): Promise<boolean> {
    let asked = false;
    return this.#ask(session, async (server, found) => {
      const ended = (found !== undefined && (await closeIn(server, found.session))) || asked;
      // Over after a reply that got lost: this call has ended it.
      asked ||= found !== undefined;
      if (ended) await this.#announce(server);
      return ended;
    });
  }

  /** @throws {ZookeeperError} */
  async closeOf(resource: string, fence: Fence): Promise<boolean> {
    const { client, paths } = this.#options;
    const { term: path } = paths.of(resource);
    let asked = false;
    return client.ask(async (server) => {
      const [node] = await readNodes(await server.shared(), [path]);
      const term = readTerm(path, node);
      const found = term?.fence === fence ? await this.#find(server, term.under) : undefined;
      const ended = (found !== undefined && (await closeIn(server, found.session))) || asked;
      asked ||= found !== undefined;
      if (ended) await this.#announce(server);
      return ended;
    });
  }

  /** @throws {ZookeeperError} */
  async acquire(session: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    for (const request of requests) checkRequest({ ...request, ttlMs: session.ttlMs });
    const replies: Replies = new Map();
    let looks = 0;
    await this.#ask(session, async (server, found) => {
      if (!found) return replies.clear();
      const free = await this.#look(server, { session, requests, replies });
      // Together until another holder was quicker with one of them.
      const together = looks === 0 ? MAX_TOGETHER : 1;
      looks += 1;
      const isLive = await this.#begin(server, { session, found, replies, free: parts(free, together) });
      if (!isLive) return replies.clear();
      return replies.size < requests.length && looks < MAX_READS ? AGAIN : undefined;
    });
    return requests.map((_, place) => replies.get(place) ?? OVER);
  }

  /** Answers what is held, and gives back what is free. */
  async #look(
    server: ZookeeperServer,
    { session, requests, replies }: { session: Session; requests: readonly SessionRequest[]; replies: Replies },
  ): Promise<Free[]> {
    const open = firstOfEach(requests, replies);
    const each = open.map(({ request }) => this.#options.paths.of(request.resource));
    const found = await readNodes(await server.shared(), [
      ...each.map(({ term }) => term),
      ...each.map(({ counter }) => counter),
    ]);
    const terms = each.map(({ term }, n) => readTerm(term, found[n]));
    const left = await this.#options.remaining(server, terms);
    for (const [n, { place, request }] of open.entries()) {
      const term = terms[n];
      const isOwn = term?.nonce === request.nonce && term.under === session.nonce;
      if (isOwn) replies.set(place, { acquired: true, fence: term.fence });
      else if (term) replies.set(place, { acquired: false, remainingMs: left[n] ?? 0 });
    }
    return open.flatMap((asked, n) => (terms[n] ? [] : [{ ...asked, counter: found[open.length + n] }]));
  }

  /**
   * Each part altogether or not at all; then something has changed since it was read.
   * @returns `false` when the session is over
   */
  async #begin(
    server: ZookeeperServer,
    begin: { session: Session; found: StoredSession; free: readonly Free[][]; replies: Replies },
  ): Promise<boolean> {
    const { session, found, free, replies } = begin;
    const { paths, access } = this.#options;
    const inPart = (part: readonly Free[]) => part.map((each) => this.#newTerm(each, session, found));
    const write = server.inSession(found.session, (connection) =>
      Promise.all(
        free.map(inPart).map(async (part) => {
          const writes = part.flatMap((term) => term.writes);
          const refused = await connection.request(transaction(writes), readTransaction);
          for (const { place, fence } of refused === undefined ? part : [])
            replies.set(place, { acquired: true, fence });
          return refused;
        }),
      ),
    );
    const refused = free.length === 0 ? [] : await unlessExpired(write, undefined);
    if (refused?.includes(NO_NODE)) await paths.make(server, access);
    return refused !== undefined;
  }

  #newTerm({ place, request, counter }: Free, { nonce: under, holder }: Session, found: StoredSession): NewTerm {
    const { paths, access, client } = this.#options;
    const at = paths.of(request.resource);
    const last = counter ? parseFence(counter.data) : NO_FENCE;
    const fence = nextFence(request, last, client.settings.clock.now());
    const data = formatFence(fence);
    // As where a term with a ttl of its own begins: the version of the counter names the term.
    const count = counter ? setData(at.counter, data, counter.version) : create({ path: at.counter, data, access });
    const term = { nonce: request.nonce, holder, fence, stamp: counter ? counter.version + 1 : 0, under };
    const put = create({ path: at.term, data: writeTerm(term, found.session), access, ephemeral: true });
    return { place, fence, writes: [count, put] };
  }

  async #announce(server: ZookeeperServer): Promise<void> {
    const { paths, access } = this.#options;
    await (await server.shared()).request(transaction(paths.announceAll(access)), readTransaction);
  }

  async #find(server: ZookeeperServer, nonce: string | undefined): Promise<StoredSession | undefined> {
    if (nonce === undefined) return undefined;
    const path = this.#options.paths.session(nonce);
    const [node] = await readNodes(await server.shared(), [path]);
    return readSession(path, node);
  }

  /** Lets `flow` act on the session as a majority knows it, in turn, again while something changed meanwhile. */
  async #ask<T>(
    { nonce }: Session,
    flow: (server: ZookeeperServer, found: StoredSession | undefined) => Promise<T | typeof AGAIN>,
  ): Promise<T> {
    const ask = () =>
      this.#options.client.ask(async (server) => {
        for (let looks = 0; ; looks += 1) {
          const done = await flow(server, await this.#find(server, nonce));
          if (done !== AGAIN) return done;
          if (looks === MAX_READS)
            throw new ZookeeperError(`The session "${nonce}" in ZooKeeper changed in each of ${looks} looks.`);
        }
      });
    const before = this.#underWay.get(nonce);
    const asking = before ? before.then(ask, ask) : ask();
    this.#underWay.set(nonce, asking);
    try {
      return await asking;
    } finally {
      if (this.#underWay.get(nonce) === asking) this.#underWay.delete(nonce);
    }
  }
}

/** What a flow says when something has changed since it looked. */
const AGAIN = Symbol('again');

/** Those without a reply; of several for one resource the first, as the others see what became of it. */
function firstOfEach(requests: readonly SessionRequest[], replies: Replies): Asked[] {
  const first = new Map<string, Asked>();
  for (const [place, request] of requests.entries()) {
    if (!replies.has(place) && !first.has(request.resource)) first.set(request.resource, { place, request });
  }
  return [...first.values()];
}

function parts<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}

function tooShort({ nonce, ttlMs }: Session, { session }: StoredSession): SetupError {
  return new SetupError(
    `Expected the session "${nonce}" to be renewed for at most ${session.timeoutMs} ms, with which it was opened, got ` +
      `${ttlMs} ms: open another session for a longer ttl.`,
  );
}
