import { FenceExhaustedError, StoreAwayError } from '../base/errors.js';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import type { Term } from '../store/grant.js';
import { inBatches, loadScripts, type RedisClient, type RedisScript } from './redis-script.js';
import { watchChannel } from './redis-connection.js';
import { partOf, redisChannel, redisKeysOf } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import { probeRedis } from './redis-probe.js';
import type { Criticality, Finding } from '../store/finding.js';
import type {
  AcquireReply,
  AcquireRequest,
  Holding,
  HoldingsPage,
  QuorumMember,
  StopWatching,
} from '../store/lease-store.js';

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
  readonly #listed: KeySpace & { readonly part: string };
  readonly #released: string;
  readonly #replication: RedisLeaseStoreOptions['replication'];

  /** @throws {SetupError} for a prefix or tenant that can't be part of a key */
  constructor(options: RedisLeaseStoreOptions) {
    const { prefix, tenant } = options;
    this.#redis = options.redis;
    this.#listed = { prefix, tenant, part: partOf(options.kind, 'lease') };
    this.#lease = redisKeysOf(this.#listed.part, options);
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

  /** By SCAN over all keys of the server: listing costs something only when someone asks for it. */
  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    // Only who lists loads it: a worker never does.
    const { scanHoldings } = await import('./redis-scan.js');
    return scanHoldings(this.#redis, this.#listed, { after, limit, inspect: (names) => this.inspect(names) });
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

/** What the scripts that look say of a holder. */
export function holding([holder = '', fence = '', remaining, since]: string[]): Holding {
  return { holder, fence: parseFence(fence), remainingMs: Number(remaining), acquiredAt: Number(since) };
}

function list(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError(`Expected a list as the reply of a lease script, got ${JSON.stringify(reply)}.`);
}

/** A write was applied by its primary, but too few replicas said in time that they have it. */
export class NotReplicatedError extends StoreAwayError {
  readonly code = 'NOT_REPLICATED';

  constructor(
    readonly asked: number,
    readonly acknowledged: number,
    timeoutMs: number,
  ) {
    super(
      `Expected ${asked} replica(s) to acknowledge a write within ${timeoutMs} ms, ${acknowledged} did. What the primary ` +
        `has applied stays, and a failover may lose it: take it back or repeat it, and look at the link to the replicas.`,
    );
  }
}

export interface ReplicatedWrite {
  /** Has to write something each time, and to be idempotent: an acquire that is repeated with its nonce does both. */
  readonly script: RedisScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** How many replicas have to have it, 1 or more. */
  readonly replicas: number;
  /** How long the server waits for them. Has to be shorter than the connection's `commandTimeoutMs`. */
  readonly timeoutMs: number;
  /** Whether the script wrote, by its reply; default: always. What wrote nothing can't get lost, so it isn't refused. */
  readonly wrote?: (reply: unknown) => boolean;
}

/**
 * Writes, and waits until so many replicas have that write and all that came before it. On a cluster the node that owns
 * the keys is asked.
 *
 * WAIT counts what was written over its own connection. After a reconnection, or on another connection, it would count
 * nothing and call that acknowledged; so the write travels with it, in one pipeline that is sent as a whole or not at all.
 * It holds up its connection for as long as it waits: give it one of its own, or renewals queue up behind it.
 *
 * WAIT narrows the window in which a failover loses an acknowledged lease. It doesn't close it: a replica that lags may
 * be promoted although another one has acknowledged.
 * @returns the script's reply
 * @throws {NotReplicatedError} the write stays applied, and is the caller's to take back
 * @throws {RangeError} for replicas or timeoutMs below 1: 0 would mean for ever
 */
export async function waitForReplicas(redis: RedisClient, write: ReplicatedWrite): Promise<unknown> {
  const { script, keys, args, replicas, timeoutMs, wrote = () => true } = write;
  checkWhole('replicas', replicas, 1);
  checkWhole('timeoutMs', timeoutMs, 1);
  // EVAL and not EVALSHA: after a NOSCRIPT the script would be sent again behind the WAIT that should count it.
  const pipeline = redis.pipeline().eval(script.text, keys.length, ...keys, ...args);
  const [written, waited] = (await pipeline.wait(replicas, timeoutMs).exec()) ?? [];
  const reply = resultOf(written);
  const acknowledged = Number(resultOf(waited));
  if (acknowledged < replicas && wrote(reply)) throw new NotReplicatedError(replicas, acknowledged, timeoutMs);
  return reply;
}

function resultOf(entry: [error: Error | null, result: unknown] | undefined): unknown {
  if (entry === undefined) throw new Error('Expected an answer to each command of a pipeline, got none.');
  if (entry[0]) throw entry[0];
  return entry[1];
}
