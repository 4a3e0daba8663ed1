import { NO_FENCE, formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { eachOwn } from '../store/each-own.js';
import type { Finding } from '../store/finding.js';
import type { Term } from '../store/grant.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import type { LeaseSessions } from '../store/lease-sessions.js';
import { checkRequest, checkWhole, notifyWatcher } from '../store/lease-request.js';
import type { AcquireReply, AcquireRequest, Holding, LeaseStore, StopWatching } from '../store/lease-store.js';
import { nextFence } from '../store/next-fence.js';
import { ZookeeperClient } from './zookeeper-client.js';
import type { ZookeeperServer } from './zookeeper-client.js';
import { NO_NODE } from './zookeeper-error.js';
import { check, create, readTransaction, remove, setData, transaction } from './zookeeper-operations.js';
import type { Access, Node, Operation } from './zookeeper-operations.js';
import type { ZookeeperOptions } from './zookeeper-options.js';
import { announcement, ZookeeperPaths } from './zookeeper-paths.js';
import type { TermPaths } from './zookeeper-paths.js';
import { note, readSession } from './zookeeper-session-node.js';
import { ZookeeperSessions } from './zookeeper-sessions.js';
import { beginIn, moveTo, readNodes, readTerm, remaining, touch } from './zookeeper-term.js';
import type { StoredTerm } from './zookeeper-term.js';
import { watchCreations } from './zookeeper-watch.js';

export interface ZookeeperLeaseStoreOptions extends ZookeeperOptions, Partial<KeySpace> {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind;
}

/** A term with its place. */
interface Own {
  readonly nonce: string;
  readonly paths: TermPaths;
  readonly term: StoredTerm;
}

/** Each further look means that the term has changed since the one before. */
const MAX_READS = 10;

/**
 * Leases in a ZooKeeper ensemble, 3.6 or newer. Nothing has to be closed.
 *
 * **A term** is an ephemeral node with a session of its own, whose timeout is the ttl. One session for the whole store
 * would keep every term alive as long as the process pings, also those that nobody renews any more. A session needs no
 * connection: to renew is to connect, continue the session, and have a transaction confirm it, on one connection; nothing
 * is sent in between, so ZooKeeper itself ends a term whose renewals stop. The price is a connection and a write per
 * renewal, and two writes per term (at most 16 such connections at once; `maxClientCnxns` is 60 per host by default).
 *
 * **The fence** is a counter in a node of its own, which never ends. The transaction that makes the term's node moves the
 * counter and compares its version: both or neither, and no number twice. A zxid would do as a fence only as long as the
 * ensemble lives: it begins anew in an empty one, goes back with a restored snapshot, and is known only after the write.
 * The counter follows the clock in microseconds, so that it goes on from there. ZooKeeper shows no clock, so it is this
 * process'; one that goes wrong moves fences on and never back, except after a total loss, where the floor helps.
 * The version of the counter also names the term: each later transaction on it compares that version.
 *
 * **The ttl**: ZooKeeper grants sessions of 2 to 20 ticks, 4 s to 40 s by default. A shorter ttl is rounded up; a longer
 * one is refused with a `SetupError`, as the term would end before its holder expects it. Terms end up to a tick late, and
 * begin anew when a leader is elected. A renewal never shortens a term: it keeps the longest ttl it was given.
 *
 * **What is left** of a term is counted from its last renewal by the leader's clock to now by this process' clock.
 */
export class ZookeeperLeaseStore implements LeaseStore {
  readonly sessions: LeaseSessions;
  readonly #client: ZookeeperClient;
  readonly #access: Access;
  readonly #paths: ZookeeperPaths;

  /** @throws {SetupError} for an address, prefix or tenant that can't be one */
  constructor(options: ZookeeperLeaseStoreOptions) {
    const { prefix = 'fencepost', tenant = 'default', kind, user } = options;
    this.#client = new ZookeeperClient(options);
    this.#access = user ? 'creator' : 'world';
    this.#paths = new ZookeeperPaths({ prefix, tenant }, kind);
    const shared = { client: this.#client, paths: this.#paths, access: this.#access };
    this.sessions = new ZookeeperSessions({ ...shared, remaining: (server, terms) => this.#remaining(server, terms) });
  }

  /**
   * @throws {ZookeeperError}
   * @throws {SetupError} for a ttl longer than ZooKeeper grants
   */
  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const paths = this.#paths.of(request.resource);
    return this.#client.ask(async (server) => {
      for (let looks = 0; looks < MAX_READS; looks += 1) {
        const reply = await this.#tryAcquire(server, request, paths);
        if (reply) return reply;
      }
      return { acquired: false, remainingMs: 0 };
    });
  }

  /** @throws {ZookeeperError} */
  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return this.#eachOwn(terms, async (server, paths, term) => {
      return term.under === undefined && this.#extend(server, paths, { term, ttlMs });
    });
  }

  /** @throws {ZookeeperError} */
  async release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#eachOwn(terms, (server, paths, term) => this.#end(server, paths, { term }));
  }

  /** @throws {ZookeeperError} */
  async evict(resource: string, fence: Fence): Promise<boolean> {
    const paths = this.#paths.of(resource);
    let asked = false;
    return this.#client.ask(async (server) => {
      for (let looks = 0; looks < MAX_READS; looks += 1) {
        const term = await this.#look(server, paths);
        // Gone after a reply that got lost: this call has ended it.
        if (term?.fence !== fence) return asked;
        const notes = await this.#notes(server, { resource, term });
        asked = true;
        if (await this.#end(server, paths, { term, notes })) return true;
        // Refused, so nothing was done: the session it is taken from may have been renewed meanwhile.
        asked = false;
      }
      return false;
    });
  }

  /** ZooKeeper acknowledges a write once a majority has it on disk. */
  async probe(): Promise<Finding[]> {
    return [];
  }

  /** @throws {ZookeeperError} */
  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const paths = resources.map((resource) => this.#paths.of(resource).term);
    return this.#client.ask(async (server) => {
      const found = await readNodes(await server.shared(), paths);
      const terms = paths.map((path, n) => readTerm(path, found[n]));
      const left = await this.#remaining(server, terms);
      return terms.map((term, n) => holding(term, left[n] ?? 0));
    });
  }

  /** @throws {ZookeeperError} when it can't begin; goes on by itself afterwards */
  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const onCreated = (created: string) => {
      const released = this.#paths.announced(created);
      if (released !== undefined) notifyWatcher(onReleased, released);
    };
    return watchCreations({ client: this.#client, path: this.#paths.released, onCreated });
  }

  /** @returns `undefined` when another request was quicker, or the term ended just now */
  async #tryAcquire(
    server: ZookeeperServer,
    request: AcquireRequest,
    paths: TermPaths,
  ): Promise<AcquireReply | undefined> {
    const [found, counter] = await readNodes(await server.shared(), [paths.term, paths.counter]);
    const term = readTerm(paths.term, found);
    if (!term) return this.#begin(server, request, { paths, counter });
    if (term.nonce !== request.nonce || term.under !== undefined) {
      const [remainingMs = 0] = await this.#remaining(server, [term]);
      return { acquired: false, remainingMs };
    }
    const extended = await this.#extend(server, paths, { term, ttlMs: request.ttlMs });
    return extended ? { acquired: true, fence: term.fence } : undefined;
  }

  async #begin(
    server: ZookeeperServer,
    request: AcquireRequest,
    { paths, counter }: { paths: TermPaths; counter: Node | undefined },
  ): Promise<AcquireReply | undefined> {
    const fence = nextFence(request, counter ? parseFence(counter.data) : NO_FENCE, this.#now());
    const access = this.#access;
    const data = formatFence(fence);
    // Who held the resource for a moment since the counter was read has got the number meant for us.
    const count = counter
      ? setData(paths.counter, data, counter.version)
      : create({ path: paths.counter, data, access });
    const term = { ...request, fence, stamp: counter ? counter.version + 1 : 0 };
    const refused = await beginIn(server, { path: paths.term, term, ttlMs: request.ttlMs, access }, [count]);
    if (refused === undefined) return { acquired: true, fence };
    if (refused === NO_NODE) await this.#paths.make(server, access);
    return undefined;
  }

  /** Another call under the same nonce may have moved the term to another session, where it goes on. */
  async #extend(
    server: ZookeeperServer,
    paths: TermPaths,
    { term, ttlMs }: { term: StoredTerm; ttlMs: number },
  ): Promise<boolean> {
    let last = term;
    for (let looks = 0; looks < MAX_READS; looks += 1) {
      const longer = ttlMs > last.session.timeoutMs;
      const access = this.#access;
      const extended = longer ? moveTo(server, paths, { term: last, ttlMs, access }) : touch(server, paths, last);
      if (await extended) return true;
      const now = await this.#look(server, paths);
      if (now?.nonce !== last.nonce || now.stamp === last.stamp) return false;
      last = now;
    }
    return false;
  }

  /** The session goes on without a node, and ends by itself. */
  async #end(
    server: ZookeeperServer,
    paths: TermPaths,
    { term, notes = [] }: { term: StoredTerm; notes?: readonly Operation[] },
  ): Promise<boolean> {
    // Watching for the removal of terms would announce every expiry as well.
    const announced = announcement(paths.released, this.#access);
    const writes = [check(paths.counter, term.stamp), remove(paths.term), ...announced, ...notes];
    return (await (await server.shared()).request(transaction(writes), readTransaction)) === undefined;
  }

  /** For the session that a term is taken from. */
  async #notes(
    server: ZookeeperServer,
    { resource, term }: { resource: string; term: StoredTerm },
  ): Promise<Operation[]> {
    if (term.under === undefined) return [];
    const path = this.#paths.session(term.under);
    const [node] = await readNodes(await server.shared(), [path]);
    const session = readSession(path, node);
    return session ? [note(path, session, { resource, nonce: term.nonce })] : [];
  }

  /** A term under a session lasts as long as that, and each renewal writes the session's node alone. */
  async #remaining(server: ZookeeperServer, terms: readonly (StoredTerm | undefined)[]): Promise<number[]> {
    const nonces = [...new Set(terms.map((term) => term?.under))].filter((nonce) => nonce !== undefined);
    const paths = nonces.map((nonce) => this.#paths.session(nonce));
    const nodes = paths.length > 0 ? await readNodes(await server.shared(), paths) : [];
    const sessions = new Map(nonces.map((nonce, n) => [nonce, readSession(paths[n] ?? '', nodes[n])]));
    const now = this.#now();
    return terms.map((term) => {
      const timed = term?.under === undefined ? term : sessions.get(term.under);
      return timed ? remaining(timed, now) : 0;
    });
  }

  async #look(server: ZookeeperServer, { term }: TermPaths): Promise<StoredTerm | undefined> {
    const [found] = await readNodes(await server.shared(), [term]);
    return readTerm(term, found);
  }

  #eachOwn(
    terms: readonly Term[],
    act: (server: ZookeeperServer, paths: TermPaths, term: StoredTerm) => Promise<boolean>,
  ): Promise<boolean[]> {
    return eachOwn<ZookeeperServer, Own>(terms, {
      ask: (flow) => this.#client.ask(flow),
      look: async (server, own) => {
        const each = own.map(({ resource }) => this.#paths.of(resource));
        const found = await readNodes(
          await server.shared(),
          each.map(({ term }) => term),
        );
        return each.map((paths, n) => ownOf(paths, readTerm(paths.term, found[n])));
      },
      act: (server, { paths, term }) => act(server, paths, term),
    });
  }

  #now(): number {
    return this.#client.settings.clock.now();
  }
}

function holding(term: StoredTerm | undefined, remainingMs: number): Holding | null {
  return term ? { holder: term.holder, fence: term.fence, remainingMs } : null;
}

function ownOf(paths: TermPaths, term: StoredTerm | undefined): Own | undefined {
  return term && { nonce: term.nonce, paths, term };
}
