import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { EtcdClient } from './etcd-client.js';
import type { EtcdMember } from './etcd-client.js';
import { EtcdKeys } from './etcd-keys.js';
import { EtcdSessions, leftOnce } from './etcd-sessions.js';
import { grant, remaining, revoke, wholeSeconds, extend, readTerm, writeTerm } from './etcd-term.js';
import type { EtcdOptions } from './etcd-options.js';
import { fromBase64 } from './etcd-replies.js';
import type { KeyValue } from './etcd-replies.js';
import type { StoredTerm } from './etcd-term.js';
import { ABSENT, commit, created, keysAfter, modified, put, read, remove } from './etcd-transaction.js';
import { watchKey } from './etcd-watch.js';
import { NO_FENCE, formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import type { Term } from '../store/grant.js';
import { nextFence } from '../store/next-fence.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import type { LeaseSessions } from '../store/lease-sessions.js';
import { eachOwn } from '../store/each-own.js';
import type { Finding } from '../store/finding.js';
import { heldOf } from '../store/holdings-page.js';
import type {
  AcquireReply,
  AcquireRequest,
  Holding,
  HoldingsPage,
  LeaseStore,
  StopWatching,
} from '../store/lease-store.js';

export interface EtcdLeaseStoreOptions extends EtcdOptions, Partial<KeySpace> {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind;
}

/** Each further look means that the term under the key has changed since the one before. */
const MAX_READS = 10;

/**
 * Leases in an etcd cluster, 3.4 or newer. Nothing has to be closed.
 *
 * **A term** is a key attached to an etcd lease of its own, which nothing else hangs on: keeping that alive can extend no
 * other term, and etcd ends both together. Every call first reads by way of a majority and then acts on what it saw, by
 * the same member and under a comparison, so that it may begin anew with another member after a reply got lost. The read is
 * also what makes keeping alive safe, which etcd's leader grants without asking anybody: a leader that was replaced long
 * ago and hasn't noticed could grant it too, but could not have answered the read.
 *
 * **The fence** is a counter under a key of its own, which never ends. The transaction that puts the term puts the next
 * number as well and compares that the counter hasn't moved since it was read: both or neither, and no number twice.
 * A revision of etcd would do as a fence only as long as the cluster lives: it starts from 1 in a new one, and goes back in
 * one restored from a snapshot. The counter follows the clock in microseconds, so that it goes on from there. etcd shows no
 * clock, so it is this process'; one that goes wrong moves fences on and never back, except after a total loss, where the
 * floor helps.
 *
 * **The ttl** is rounded up to whole seconds, and etcd grants no less than 1.5 election timeouts: terms end late by up to
 * some seconds, and begin anew when a new leader is elected. They can end early where a leader that hung for long revokes
 * what its successor had extended (etcd before 3.4.31 and 3.5.13, https://github.com/etcd-io/etcd/issues/15247).
 *
 * etcd keeps every revision by default: set `--auto-compaction-retention`, or its quota fills up and it
 * refuses to write.
 */
export class EtcdLeaseStore implements LeaseStore {
  readonly sessions: LeaseSessions;
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #keys: EtcdKeys;

  /** @throws {SetupError} for an address, prefix or tenant that can't be one */
  constructor(options: EtcdLeaseStoreOptions) {
    const { prefix = 'fencepost', tenant = 'default', kind, clock = systemClock } = options;
    this.#client = new EtcdClient(options);
    this.#clock = clock;
    this.#keys = new EtcdKeys({ prefix, tenant }, kind);
    this.sessions = new EtcdSessions({ client: this.#client, keys: this.#keys, clock });
  }

  /** @throws {EtcdError} */
  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const key = this.#keys.term(request.resource);
    return this.#client.ask(async (member) => {
      for (let looks = 0; looks < MAX_READS; looks += 1) {
        const reply = await this.#tryAcquire(member, request, key);
        if (reply) return reply;
      }
      return { acquired: false, remainingMs: 0 };
    });
  }

  /** @throws {EtcdError} */
  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return this.#eachOwn(terms, async (member, seen) => {
      if (seen.session !== undefined) return false;
      if (await extend(member, seen, ttlMs)) return true;
      return this.#renewMoved(member, seen, ttlMs);
    });
  }

  /** @throws {EtcdError} */
  async release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#eachOwn(terms, (member, seen) => this.#end(member, seen));
  }

  /** @throws {EtcdError} */
  async evict(resource: string, fence: Fence): Promise<boolean> {
    const key = this.#keys.term(resource);
    let asked = false;
    return this.#client.ask(async (member) => {
      const [found] = await read(member, [key]);
      const seen = readTerm(key, found);
      // Gone after a reply that got lost: it was this call that ended it.
      if (seen?.fence !== fence) return asked;
      asked = true;
      return this.#end(member, seen, noteOf(this.#keys, seen));
    });
  }

  /** etcd acknowledges a write once a majority has it on disk. */
  async probe(): Promise<Finding[]> {
    return [];
  }

  /** @throws {EtcdError} */
  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const keys = resources.map((resource) => this.#keys.term(resource));
    return this.#client.ask(async (member) => {
      const found = await read(member, keys);
      const left = leftOnce(member);
      return Promise.all(keys.map((key, n) => holding(readTerm(key, found[n]), left)));
    });
  }

  /** Without the instants of the acquisitions: etcd shows no clock. */
  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    const { terms: head } = this.#keys;
    const keys = await this.#client.ask((member) => keysAfter(member, { head, after: head + (after ?? ''), limit }));
    const names = keys.map((key) => this.#keys.resourceOf(key));
    const next = keys.length < limit ? null : (names.at(-1) ?? null);
    return { items: heldOf(names, await this.inspect(names)), next };
  }

  /** @throws {EtcdError} when it can't begin; goes on by itself afterwards */
  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const { released: key } = this.#keys;
    return watchKey({ client: this.#client, clock: this.#clock, key, onValue: onReleased });
  }

  /** @returns `undefined` when another request was quicker, or the term ended just now */
  async #tryAcquire(member: EtcdMember, request: AcquireRequest, key: string): Promise<AcquireReply | undefined> {
    const counterKey = this.#keys.counter(request.resource);
    const [found, counter] = await read(member, [key, counterKey]);
    const term = readTerm(key, found);
    if (!term) return this.#begin(member, request, { key, counterKey, counter });
    if (term.nonce !== request.nonce || term.session !== undefined) {
      return { acquired: false, remainingMs: (await remaining(member, term.lease)) ?? 0 };
    }
    return (await extend(member, term, request.ttlMs)) ? { acquired: true, fence: term.fence } : undefined;
  }

  async #begin(
    member: EtcdMember,
    request: AcquireRequest,
    { key, counterKey, counter }: { key: string; counterKey: string; counter: KeyValue | undefined },
  ): Promise<AcquireReply | undefined> {
    const fence = nextFence(request, counter ? parseFence(fromBase64(counter.value)) : NO_FENCE, this.#clock.now());
    const seconds = wholeSeconds(request.ttlMs);
    const lease = await grant(member, seconds);
    const won = await commit(member, {
      // The counter as well: who held the resource for a moment since it was read has got the number meant for us.
      compare: [created(key, ABSENT), modified(counterKey, counter?.mod_revision ?? ABSENT)],
      success: [put(key, writeTerm({ ...request, fence, seconds }), lease), put(counterKey, formatFence(fence))],
    });
    if (won) return { acquired: true, fence };
    await revoke(member, lease);
    return undefined;
  }

  /**
   * @param writes what else is written with it
   * @returns `false` when it was over by then
   */
  async #end(member: EtcdMember, seen: StoredTerm, writes: readonly object[] = []): Promise<boolean> {
    const resource = this.#keys.resourceOf(seen.key);
    const ended = await commit(member, {
      compare: [created(seen.key, seen.createdAt)],
      // Watching for deletions would announce every expiry as well, and could not name its holder.
      success: [remove(seen.key), put(this.#keys.released, resource), ...writes],
    });
    // The lease of a session has other terms.
    if (ended && seen.session === undefined) await revoke(member, seen.lease);
    return ended;
  }

  /** Another call under the same nonce may have moved the term to another etcd lease, where it goes on. */
  async #renewMoved(member: EtcdMember, before: StoredTerm, ttlMs: number): Promise<boolean> {
    let last = before;
    for (let looks = 1; looks < MAX_READS; looks += 1) {
      const [found] = await read(member, [last.key]);
      const now = readTerm(last.key, found);
      if (now?.nonce !== last.nonce || now.lease === last.lease) return false;
      if (await extend(member, now, ttlMs)) return true;
      last = now;
    }
    return false;
  }

  #eachOwn(
    terms: readonly Term[],
    act: (member: EtcdMember, seen: StoredTerm) => Promise<boolean>,
  ): Promise<boolean[]> {
    return eachOwn<EtcdMember, StoredTerm>(terms, {
      ask: (flow) => this.#client.ask(flow),
      look: async (member, own) => {
        const keys = own.map((term) => this.#keys.term(term.resource));
        const found = await read(member, keys);
        return keys.map((key, n) => readTerm(key, found[n]));
      },
      act,
    });
  }
}

/** For its session, that a term was taken; ends with the session. */
function noteOf(keys: EtcdKeys, { session, key, nonce, lease }: StoredTerm): object[] {
  return session === undefined ? [] : [put(keys.note(session, keys.resourceOf(key)), nonce, lease)];
}

async function holding(
  term: StoredTerm | undefined,
  left: (lease: string) => Promise<number | null>,
): Promise<Holding | null> {
  const remainingMs = term ? await left(term.lease) : null;
  return term && remainingMs !== null ? { holder: term.holder, fence: term.fence, remainingMs } : null;
}
