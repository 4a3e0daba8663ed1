import { NO_FENCE, formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkResourceName } from '../base/resource.js';
import { eachOwn } from '../store/each-own.js';
import type { Finding } from '../store/finding.js';
import type { Term } from '../store/grant.js';
import { partOf, redisChannel } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import { checkRequest, checkWhole, notifyWatcher } from '../store/lease-request.js';
import type { AcquireReply, AcquireRequest, Holding, LeaseStore, StopWatching } from '../store/lease-store.js';
import { nextFence } from '../store/next-fence.js';
import { ZookeeperClient } from './zookeeper-client.js';
import type { ZookeeperServer } from './zookeeper-client.js';
import { NODE_EXISTS, NO_NODE, ZookeeperError } from './zookeeper-error.js';
import { check, create, readTransaction, remove, setData, transaction } from './zookeeper-operations.js';
import type { Access, Node } from './zookeeper-operations.js';
import type { ZookeeperOptions } from './zookeeper-options.js';
import { beginIn, moveTo, readNodes, readTerm, remaining, touch } from './zookeeper-term.js';
import type { StoredTerm, TermPaths } from './zookeeper-term.js';
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
  readonly #client: ZookeeperClient;
  readonly #access: Access;
  readonly #space: Readonly<Record<keyof TermPaths, string>>;

  /** @throws {SetupError} for an address, prefix or tenant that can't be one */
  constructor(options: ZookeeperLeaseStoreOptions) {
    const { prefix = 'fencepost', tenant = 'default', kind, user } = options;
    const part = (name: string) => `/${redisChannel({ prefix, tenant }, partOf(kind, name)).replaceAll(':', '/')}`;
    this.#client = new ZookeeperClient(options);
    this.#access = user ? 'creator' : 'world';
    this.#space = { term: part('lease'), counter: part('fence'), released: part('released') };
  }

  /**
   * @throws {ZookeeperError}
   * @throws {SetupError} for a ttl longer than ZooKeeper grants
   */
  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const paths = this.#paths(request);
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
    return this.#eachOwn(terms, (server, paths, term) => this.#extend(server, paths, { term, ttlMs }));
  }

  /** @throws {ZookeeperError} */
  async release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#eachOwn(terms, (server, paths, term) => this.#end(server, paths, term));
  }

  /** @throws {ZookeeperError} */
  async evict(resource: string, fence: Fence): Promise<boolean> {
    const paths = this.#paths({ resource });
    let asked = false;
    return this.#client.ask(async (server) => {
      const term = await this.#look(server, paths);
      // Gone after a reply that got lost: this call has ended it.
      if (term?.fence !== fence) return asked;
      asked = true;
      return this.#end(server, paths, term);
    });
  }

  /** ZooKeeper acknowledges a write once a majority has it on disk. */
  async probe(): Promise<Finding[]> {
    return [];
  }

  /** @throws {ZookeeperError} */
  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const paths = resources.map((resource) => this.#paths({ resource }).term);
    return this.#client.ask(async (server) => {
      const found = await readNodes(await server.shared(), paths);
      return paths.map((path, n) => this.#holding(readTerm(path, found[n])));
    });
  }

  /** @throws {ZookeeperError} when it can't begin; goes on by itself afterwards */
  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const { released: path } = this.#space;
    const onCreated = (created: string) => {
      if (created.startsWith(`${path}/`)) notifyWatcher(onReleased, nameIn(created.slice(path.length + 1)));
    };
    return watchCreations({ client: this.#client, path, onCreated });
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
    if (term.nonce !== request.nonce) return { acquired: false, remainingMs: remaining(term, this.#now()) };
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
    if (refused === NO_NODE) await this.#makeParents(server);
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
  async #end(server: ZookeeperServer, paths: TermPaths, term: StoredTerm): Promise<boolean> {
    const announced = create({ path: paths.released, data: '', access: this.#access });
    // Watching for the removal of terms would announce every expiry as well.
    const writes = [check(paths.counter, term.stamp), remove(paths.term), announced, remove(paths.released)];
    return (await (await server.shared()).request(transaction(writes), readTransaction)) === undefined;
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
        const each = own.map((term) => this.#paths(term));
        const found = await readNodes(
          await server.shared(),
          each.map(({ term }) => term),
        );
        return each.map((paths, n) => ownOf(paths, readTerm(paths.term, found[n])));
      },
      act: (server, { paths, term }) => act(server, paths, term),
    });
  }

  async #makeParents(server: ZookeeperServer): Promise<void> {
    const connection = await server.shared();
    const parents = Object.values(this.#space).flatMap(ancestors);
    for (const path of new Set(parents)) {
      const node = create({ path, data: '', access: this.#access });
      await connection.request(node, () => {}).catch(thereAlready);
    }
  }

  #holding(term: StoredTerm | undefined): Holding | null {
    return term ? { holder: term.holder, fence: term.fence, remainingMs: remaining(term, this.#now()) } : null;
  }

  #now(): number {
    return this.#client.settings.clock.now();
  }

  #paths({ resource }: Pick<Term, 'resource'>): TermPaths {
    const name = nodeName(checkResourceName(resource));
    const { term, counter, released } = this.#space;
    return { term: `${term}/${name}`, counter: `${counter}/${name}`, released: `${released}/${name}` };
  }
}

/** A node's name holds no slash, is neither `.` nor `..`, and lacks the characters beyond 16 bits. */
function nodeName(resource: string): string {
  return encodeURIComponent(resource).replaceAll('.', '%2E');
}

function nameIn(node: string): string {
  return decodeURIComponent(node);
}

/** `/a/b` gives `/a` and `/a/b`. */
function ancestors(path: string): string[] {
  const names = path.slice(1).split('/');
  return names.map((_, n) => `/${names.slice(0, n + 1).join('/')}`);
}

function thereAlready(error: unknown): void {
  if (!(error instanceof ZookeeperError) || error.status !== NODE_EXISTS) throw error;
}

function ownOf(paths: TermPaths, term: StoredTerm | undefined): Own | undefined {
  return term && { nonce: term.nonce, paths, term };
}
