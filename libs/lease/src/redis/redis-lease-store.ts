import { FenceExhaustedError } from '../base/errors.js';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import type { Term } from '../store/grant.js';
import { inBatches, loadScripts, type RedisClient } from './redis-script.js';
import { watchChannel } from './redis-channel.js';
import { partOf, redisChannel, redisKeysOf } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import { probeRedis } from './redis-probe.js';
import { NotReplicatedError, waitForReplicas } from './redis-wait.js';
import type { Criticality, Finding } from '../store/finding.js';
import type { AcquireReply, AcquireRequest, Holding, QuorumMember, StopWatching } from '../store/lease-store.js';

export interface RedisLeaseStoreOptions extends KeySpace {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind;
  /** The caller closes it. */
  readonly redis: RedisClient;
  /** A lease counts when so many replicas have it; `redis` is a connection of its own, which WAIT holds up. */
  readonly replication?: {
    readonly redis: RedisClient;
    readonly replicas: number;
    readonly timeoutMs: number;
  };
}

const scripts = loadScripts(new URL('../lua/', import.meta.url), [
  'acquire-lease',
  'acquire-leases',
  'evict-lease',
  'renew-leases',
  'release-leases',
  'inspect-leases',
  'raise-fence',
]);

/** Leases in one Redis, or in one Redis Cluster. For its limits, see the README. */
export class RedisLeaseStore implements QuorumMember {
  readonly #redis: RedisClient;
  readonly #lease: (resource: string) => string;
  readonly #fence: (resource: string) => string;
  readonly #released: string;
  readonly #replication: RedisLeaseStoreOptions['replication'];

  /** @throws {SetupError} for a prefix or tenant that can't be part of a key */
  constructor(options: RedisLeaseStoreOptions) {
    this.#redis = options.redis;
    this.#lease = redisKeysOf(partOf(options.kind, 'lease'), options);
    this.#fence = redisKeysOf(partOf(options.kind, 'fence'), options);
    this.#released = redisChannel(options, partOf(options.kind, 'released'));
    this.#replication = options.replication;
  }

  async probe(criticality: Criticality): Promise<Finding[]> {
    return probeRedis(this.#redis, { criticality, awaitedReplicas: this.#replication?.replicas ?? 0 });
  }

  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    return replyTo(request, await this.#acquire(request, [askedFor(request)]));
  }

  async acquireMany(requests: readonly AcquireRequest[]): Promise<AcquireReply[]> {
    requests.forEach(checkRequest);
    // Each waits for its own replicas: one WAIT for all would give up all of them for one.
    if (this.#replication) return Promise.all(requests.map((request) => this.acquire(request)));
    return inBatches(this.#redis, requests, async (batch) => {
      const keys = batch.flatMap(({ resource }) => this.#keys(resource));
      const answers = list(await scripts['acquire-leases'].run(this.#redis, keys, batch.map(askedFor)));
      return batch.map((request, n) => replyTo(request, heeded(request, String(answers[n]))));
    });
  }

  async evict(resource: string, fence: Fence): Promise<boolean> {
    const args = [formatFence(fence), this.#released, resource];
    return (await scripts['evict-lease'].run(this.#redis, [this.#lease(resource)], args)) === 'DONE';
  }

  #acquire(term: Term, args: readonly (string | number)[]): Promise<unknown> {
    if (this.#replication) return this.#acquireReplicated(this.#replication, term, args);
    return scripts['acquire-lease'].run(this.#redis, this.#keys(term.resource), args);
  }

  async #acquireReplicated(
    { redis, ...awaited }: NonNullable<RedisLeaseStoreOptions['replication']>,
    term: Term,
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const script = scripts['acquire-lease'];
    const keys = this.#keys(term.resource);
    try {
      return await waitForReplicas(redis, { script, keys, args, wrote: isAcquired, ...awaited });
    } catch (error) {
      // It is on the primary and must be given back: the caller asked for a lease that survives a failover.
      if (error instanceof NotReplicatedError) await this.release([term]);
      throw error;
    }
  }

  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return inBatches(this.#redis, terms, async (batch) => {
      const args = [ttlMs, ...batch.map(({ nonce }) => nonce)];
      return answersOf(batch, await scripts['renew-leases'].run(this.#redis, this.#leases(batch), args));
    });
  }

  release(terms: readonly Term[]): Promise<boolean[]> {
    return inBatches(this.#redis, terms, async (batch) => {
      const args = [this.#released];
      for (const { nonce, resource } of batch) args.push(nonce, resource);
      return answersOf(batch, await scripts['release-leases'].run(this.#redis, this.#leases(batch), args));
    });
  }

  async raiseFence({ resource, nonce }: Term, fence: Fence): Promise<boolean> {
    checkWhole('fence', fence, 1);
    const reply = await scripts['raise-fence'].run(this.#redis, this.#keys(resource), [nonce, formatFence(fence)]);
    return reply === 'DONE';
  }

  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    return inBatches(this.#redis, resources, async (batch) => {
      const keys = batch.map((resource) => this.#lease(resource));
      const answers = list(await scripts['inspect-leases'].run(this.#redis, keys, []));
      return answers.map((answer) => (answer === null ? null : holding(list(answer).map(String))));
    });
  }

  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    return watchChannel(this.#redis, this.#released, onReleased);
  }

  #leases(terms: readonly Term[]): string[] {
    return terms.map(({ resource }) => this.#lease(resource));
  }

  #keys(resource: string): [lease: string, fence: string] {
    return [this.#lease(resource), this.#fence(resource)];
  }
}

function askedFor({ nonce, ttlMs, floor, holder }: AcquireRequest): string {
  return `${nonce} ${ttlMs} ${formatFence(floor)} ${holder}`;
}

function replyTo({ resource }: AcquireRequest, answer: unknown): AcquireReply {
  const text = String(answer);
  const [word, value = ''] = text.split(' ');
  if (word === 'EXHAUSTED') throw new FenceExhaustedError(resource);
  if (word === 'ACQUIRED') return { acquired: true, fence: parseFence(value) };
  if (word === 'BUSY') return { acquired: false, remainingMs: Number(value) };
  throw new Error(`Expected an answer about ${resource}, got ${JSON.stringify(text)}.`);
}

/** A key of the wrong type fails this lease only, not the batch. */
function heeded({ resource, ttlMs }: AcquireRequest, answer: string): string {
  if (!answer.startsWith('FAILED')) return answer;
  process.emitWarning(`The lease of ${resource} can not be read: ${answer}`);
  return `BUSY ${ttlMs}`;
}

/** A busy reply has written nothing, so it waits for no replicas. */
function isAcquired(reply: unknown): boolean {
  return String(reply).startsWith('ACQUIRED ');
}

/** From the positions, counted from 1, of terms that were over: usually none, which is quick to write and to read. */
function answersOf(terms: readonly Term[], over: unknown): boolean[] {
  const answers = terms.map(() => true);
  for (const place of list(over)) answers[Number(place) - 1] = false;
  return answers;
}

function holding([holder = '', fence = '', remaining]: string[]): Holding {
  return { holder, fence: parseFence(fence), remainingMs: Number(remaining) };
}

function list(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError(`Expected a list as the reply of a lease script, got ${JSON.stringify(reply)}.`);
}
