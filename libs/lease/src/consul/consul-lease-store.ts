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
import { ConsulClient } from './consul-client.js';
import type { ConsulAgent } from './consul-client.js';
import { ConsulKeys } from './consul-keys.js';
import type { ResourceKeys } from './consul-keys.js';
import {
  checkSession,
  commit,
  compareAndRemove,
  compareAndSet,
  lock,
  readBelow,
  remove,
  set,
} from './consul-operations.js';
import type { Operation, StoredKey } from './consul-operations.js';
import type { ConsulOptions } from './consul-options.js';
import { ConsulSessions } from './consul-sessions.js';
import { begin, endSession, extend, readTerm } from './consul-term.js';
import type { StoredTerm } from './consul-term.js';
import { watchKeys } from './consul-watch.js';

export interface ConsulLeaseStoreOptions extends ConsulOptions, Partial<KeySpace> {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind;
}

/** A term with its place. */
interface Own {
  readonly nonce: string;
  readonly keys: ResourceKeys;
  readonly term: StoredTerm;
}

/** Each further look means that the term has changed since the one before. */
const MAX_READS = 10;

/**
 * Leases in Consul, 1.7 or newer. Nothing has to be closed.
 *
 * **Verified against a double made from Consul's documentation, not yet against a server.** The contract suite runs against
 * a server where `CONSUL_HTTP_ADDR` is set: do so before you rely on it.
 *
 * **A term** is a key locked by a session of its own, which Consul deletes with the session. Every call first reads by way
 * of a majority, and then acts on what it saw by way of the same agent: renewing a session is the leader's own act, and
 * one that was replaced and hasn't noticed could not have answered the read. Each transaction compares the session, which
 * names the term. Sessions have no health checks, so a node that only seems to be down loses no lease; one whose
 * node is deregistered, or that an operator destroys, ends early, as by `evict`.
 *
 * **The fence** is a counter under a key of its own, which never ends. The transaction that locks the term's key sets the
 * counter as well and compares its `ModifyIndex`: both or neither, and no number twice. An index of Consul would
 * do as a fence only as long as the cluster lives: it goes back when a snapshot is restored, and is known only after the
 * write. The counter follows the clock in microseconds, so that it goes on from there. Consul shows no clock, so
 * it is this process'; one that goes wrong moves fences on and never back, except after a total loss, where the floor helps.
 *
 * **The ttl** is rounded up to whole seconds, at least 10 s. It is Consul's lower bound: a term that nobody renews may
 * last up to twice as long, and begins anew when a leader is elected. The lock-delay, 15 s by default, is 1 ms: a holder
 * stops before its ttl is over, and its late writes have a smaller fence. A renewal never shortens a term: it
 * keeps the longest ttl it was given.
 *
 * **What is left** of a term Consul doesn't say: `inspect` shows the ttl, the most that it can be.
 */
export class ConsulLeaseStore implements LeaseStore {
  readonly sessions: LeaseSessions;
  readonly #client: ConsulClient;
  readonly #keys: ConsulKeys;

  /** @throws {SetupError} for an address, prefix or tenant that can't be one */
  constructor(options: ConsulLeaseStoreOptions) {
    const { prefix = 'fencepost', tenant = 'default', kind } = options;
    this.#client = new ConsulClient(options);
    this.#keys = new ConsulKeys({ prefix, tenant }, kind);
    this.sessions = new ConsulSessions(this.#client, this.#keys);
  }

  /**
   * @throws {ConsulError}
   * @throws {SetupError} for a ttl longer than Consul grants
   */
  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const keys = this.#keys.of(request.resource);
    return this.#client.ask(async (agent) => {
      for (let looks = 0; looks < MAX_READS; looks += 1) {
        const reply = await this.#tryAcquire(agent, request, keys);
        if (reply) return reply;
      }
      return { acquired: false, remainingMs: 0 };
    });
  }

  /** @throws {ConsulError} */
  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return this.#eachOwn(terms, async (agent, keys, term) => {
      return term.under === undefined && this.#extend(agent, keys, { term, ttlMs });
    });
  }

  /** @throws {ConsulError} */
  async release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#eachOwn(terms, (agent, keys, term) => end(agent, keys, { term }));
  }

  /** @throws {ConsulError} */
  async evict(resource: string, fence: Fence): Promise<boolean> {
    const keys = this.#keys.of(resource);
    let asked = false;
    return this.#client.ask(async (agent) => {
      const term = await look(agent, keys);
      // Gone after a reply that got lost: this call has ended it.
      if (term?.fence !== fence) return asked;
      asked = true;
      return end(agent, keys, { term, notes: this.#notes(resource, term) });
    });
  }

  /** Consul acknowledges a write once a majority has it on disk. */
  async probe(): Promise<Finding[]> {
    return [];
  }

  /** @throws {ConsulError} */
  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const keys = resources.map((resource) => this.#keys.of(resource));
    return this.#client.ask(async (agent) => {
      const found = await readAll(agent, keys);
      return keys.map(({ term }) => holding(readTerm(found.get(term))));
    });
  }

  /** @throws {ConsulError} when it can't begin; goes on by itself afterwards */
  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const { released: prefix } = this.#keys;
    const onSet = (key: string) => notifyWatcher(onReleased, this.#keys.announced(key));
    return watchKeys({ client: this.#client, prefix, onSet });
  }

  /** @returns `undefined` when another request was quicker, or the term ended just now */
  async #tryAcquire(
    agent: ConsulAgent,
    request: AcquireRequest,
    keys: ResourceKeys,
  ): Promise<AcquireReply | undefined> {
    const found = await readAll(agent, [keys]);
    const term = readTerm(found.get(keys.term));
    if (!term) return this.#begin(agent, request, { keys, counter: found.get(keys.counter) });
    if (term.nonce !== request.nonce || term.under !== undefined) {
      return { acquired: false, remainingMs: 1_000 * term.seconds };
    }
    const extended = await this.#extend(agent, keys, { term, ttlMs: request.ttlMs });
    return extended ? { acquired: true, fence: term.fence } : undefined;
  }

  async #begin(
    agent: ConsulAgent,
    request: AcquireRequest,
    { keys, counter }: { keys: ResourceKeys; counter: StoredKey | undefined },
  ): Promise<AcquireReply | undefined> {
    const last = counter ? parseFence(counter.value) : NO_FENCE;
    const fence = nextFence(request, last, this.#client.settings.clock.now());
    // Who held the resource for a moment since the counter was read has got the number meant for us.
    const count = compareAndSet(keys.counter, formatFence(fence), counter?.modifiedAt ?? 0);
    const won = await begin(agent, { ...request, key: keys.term, fence }, [count, remove(keys.released)]);
    return won ? { acquired: true, fence } : undefined;
  }

  /** Another call under the same nonce may have moved the term to another session, where it goes on. */
  async #extend(
    agent: ConsulAgent,
    keys: ResourceKeys,
    { term, ttlMs }: { term: StoredTerm; ttlMs: number },
  ): Promise<boolean> {
    let last = term;
    for (let looks = 0; looks < MAX_READS; looks += 1) {
      if (await extend(agent, last, ttlMs)) return true;
      const now = await look(agent, keys);
      if (now?.nonce !== last.nonce || now.session === last.session) return false;
      last = now;
    }
    return false;
  }

  #eachOwn(
    terms: readonly Term[],
    act: (agent: ConsulAgent, keys: ResourceKeys, term: StoredTerm) => Promise<boolean>,
  ): Promise<boolean[]> {
    return eachOwn<ConsulAgent, Own>(terms, {
      ask: (flow) => this.#client.ask(flow),
      look: async (agent, own) => {
        const each = own.map((term) => this.#keys.of(term.resource));
        const found = await readAll(agent, each);
        return each.map((keys) => ownOf(keys, readTerm(found.get(keys.term))));
      },
      act: (agent, { keys, term }) => act(agent, keys, term),
    });
  }

  /** For the session that a term is taken from; ends with it. */
  #notes(resource: string, { under, session, nonce }: StoredTerm): Operation[] {
    if (under === undefined) return [];
    return [lock(this.#keys.note(this.#keys.session(under), resource), session, nonce)];
  }
}

async function end(
  agent: ConsulAgent,
  keys: ResourceKeys,
  { term, notes = [] }: { term: StoredTerm; notes?: readonly Operation[] },
): Promise<boolean> {
  const announced = set(keys.released);
  if (term.under !== undefined) {
    // Its session has other terms, perhaps a later one of the same resource.
    return commit(agent, [compareAndRemove(keys.term, term.modifiedAt), announced, ...notes]);
  }
  // The session's end would delete the key as well, and hold back for the lock-delay who comes next.
  const ended = await commit(agent, [checkSession(keys.term, term.session), remove(keys.term), announced]);
  if (ended) await endSession(agent, term.session);
  return ended;
}

function readAll(agent: ConsulAgent, keys: readonly ResourceKeys[]): Promise<Map<string, StoredKey>> {
  return readBelow(
    agent,
    keys.map(({ all }) => all),
  );
}

async function look(agent: ConsulAgent, keys: ResourceKeys): Promise<StoredTerm | undefined> {
  return readTerm((await readAll(agent, [keys])).get(keys.term));
}

function holding(term: StoredTerm | undefined): Holding | null {
  return term ? { holder: term.holder, fence: term.fence, remainingMs: 1_000 * term.seconds } : null;
}

function ownOf(keys: ResourceKeys, term: StoredTerm | undefined): Own | undefined {
  return term && { nonce: term.nonce, keys, term };
}
