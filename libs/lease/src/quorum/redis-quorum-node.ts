import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { sleep } from '../base/clock.js';
import type { CancelTimer, Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import type { Term } from '../store/grant.js';
import { listenAgain, closeRedis, describeFailure } from '../redis/redis-connection.js';
import { partOf, redisChannel } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import { readServerFacts } from '../redis/redis-probe.js';
import { judgeServer } from '../redis/server-judgement.js';
import type {
  AcquireReply,
  AcquireRequest,
  Holding,
  HoldingsPage,
  QuorumMember,
  StopWatching,
} from '../store/lease-store.js';
import { RedisLeaseStore } from '../redis/redis-lease-store.js';
import { notifyWatcher } from '../store/lease-request.js';

export interface RedisQuorumNodeOptions extends KeySpace {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind | undefined;
  readonly url: string;
  /** How messages, logs and metrics call it: host and port. */
  readonly name: string;
  readonly commandTimeoutMs: number;
  readonly longestTtlMs: number;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /**
   * Receives the identity of the server process found under the name.
   * @throws {SetupError} when the server votes already
   */
  readonly meet: (name: string, runId: string) => void;
}

const EXAMINE_AGAIN_MS = 5_000;
const MIN_CONNECT_MS = 1_000;
const MAX_PAUSE_MS = 1_000;

/**
 * One Redis of a quorum, on one connection. Comes back by itself, and votes again when that is safe.
 *
 * Nothing waits for a connection and nothing is sent twice: a command that arrives after its quorum has decided without it
 * would block a resource without a holder.
 */
export class RedisQuorumNode implements QuorumMember {
  readonly name: string;
  readonly #options: RedisQuorumNodeOptions;
  readonly #redis: Redis;
  readonly #store: RedisLeaseStore;
  readonly #gate: QuorumGate;
  #connections = 0;
  #begun: Promise<void> | undefined;
  #trouble: unknown;
  #cancelRetry: CancelTimer = () => {};

  /** Connects only with {@link connect}. */
  constructor(options: RedisQuorumNodeOptions) {
    this.name = options.name;
    this.#options = options;
    this.#redis = new Redis(options.url, connectionOptions(options));
    const { prefix, tenant, kind } = options;
    this.#store = new RedisLeaseStore({ redis: this.#redis, prefix, tenant, ...(kind ? { kind } : {}) });
    this.#gate = new QuorumGate(options.clock);
    this.#redis.on('error', (error: Error) => (this.#trouble = error));
    this.#redis.on('close', () => this.#ended());
    this.#redis.on('ready', () => {
      this.#begun = this.#begin(this.#connections);
      this.#begun.catch(() => {});
    });
  }

  /**
   * The first attempt to connect; afterwards the node keeps trying by itself.
   * @returns what keeps it from being reached, if anything does
   * @throws {SetupError} when it may never vote as it is set up
   */
  async connect(): Promise<string | undefined> {
    try {
      await this.#redis.connect();
      await this.#begun;
      return undefined;
    } catch (error) {
      if (error instanceof SetupError) throw error;
      return this.#described(error);
    }
  }

  acquire(request: AcquireRequest): Promise<AcquireReply> {
    return this.#gate.pass(() => this.#store.acquire(request));
  }

  renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    return this.#gate.pass(() => this.#store.renew(terms, ttlMs));
  }

  raiseFence(term: Term, fence: Fence): Promise<boolean> {
    return this.#gate.pass(() => this.#store.raiseFence(term, fence));
  }

  inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    return this.#gate.pass(() => this.#store.inspect(resources));
  }

  list(after: string | null, limit: number): Promise<HoldingsPage> {
    return this.#gate.pass(() => this.#store.list(after, limit));
  }

  /** Also on a node that may not vote: ending a term is no promise to anybody. */
  release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#store.release(terms);
  }

  /** As `release`. */
  evict(resource: string, fence: Fence): Promise<boolean> {
    return this.#store.evict(resource, fence);
  }

  /** Resolves when the node is listened to, or when it doesn't answer in time; it is listened to then as soon as it does. */
  async watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const { clock, commandTimeoutMs } = this.#options;
    const subscriber = new Redis(this.#options.url, subscriberOptions(this.#options));
    subscriber.on('error', () => {});
    subscriber.on('message', (_channel: string, resource: string) => notifyWatcher(onReleased, resource));
    const finished = new AbortController();
    const channel = redisChannel(this.#options, partOf(this.#options.kind, 'released'));
    listenAgain(subscriber, channel);
    const subscribed = subscriber.subscribe(channel).catch(() => {});
    await Promise.race([subscribed, sleep(clock, commandTimeoutMs, finished.signal)]);
    finished.abort();
    return () => closeRedis(subscriber);
  }

  /** Closes at once; requests in flight fail. */
  async close(): Promise<void> {
    this.#cancelRetry();
    await closeRedis(this.#redis);
    this.#gate.close('closed');
  }

  #ended(): void {
    this.#connections += 1;
    this.#cancelRetry();
    this.#gate.close(this.#trouble === undefined ? 'not connected' : this.#described(this.#trouble));
  }

  /** What this boot of the server may do. */
  async #begin(connection: number): Promise<void> {
    try {
      await this.#examine(connection);
      this.#trouble = undefined;
    } catch (error) {
      if (connection !== this.#connections) throw error;
      const because = error instanceof SetupError ? error.message : this.#described(error);
      this.#gate.close(because);
      // A setting may be corrected without a restart, which nothing else would show.
      this.#cancelRetry = this.#options.clock.after(EXAMINE_AGAIN_MS, () => this.#redis.disconnect(true));
      throw error;
    }
  }

  async #examine(connection: number): Promise<void> {
    const { clock, longestTtlMs, meet } = this.#options;
    const facts = await readServerFacts(this.#redis, { clock, address: this.name });
    const uptimeSeconds = Number(/^uptime_in_seconds:(\d+)/m.exec(await this.#redis.info('server'))?.[1] ?? 0);
    // Two connections may belong to two boots of the server.
    if (connection !== this.#connections) throw new Error('Connection is closed.');
    const unfit = judgeServer(facts, { criticality: 'efficiency' }).find(({ danger }) => danger === 'refuse');
    if (unfit) throw new SetupError(unfit.message);
    meet(this.name, facts.runId);
    const keepsWrites = facts.appendOnly && facts.appendFsync === 'always' && !facts.appendFails;
    const delayMs = votesInMs({ uptimeSeconds, keepsWrites }, longestTtlMs);
    this.#gate.openIn(delayMs, `restarted, and may have forgotten terms of up to ${longestTtlMs} ms that still run`);
  }

  #described(error: unknown): string {
    return describeFailure(this.name, this.#trouble ?? error);
  }
}

function connectionOptions(options: RedisQuorumNodeOptions): Omit<RedisOptions, 'replyMapping'> {
  return {
    ...commonOptions(options),
    commandTimeout: options.commandTimeoutMs,
    // A network that is cut closes no socket: without this the connection would come back minutes after the network.
    socketTimeout: 2 * options.commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  };
}

function subscriberOptions(options: RedisQuorumNodeOptions): Omit<RedisOptions, 'replyMapping'> {
  return { ...commonOptions(options), maxRetriesPerRequest: null, autoResubscribe: false };
}

function commonOptions({ commandTimeoutMs, random }: RedisQuorumNodeOptions): Omit<RedisOptions, 'replyMapping'> {
  return {
    lazyConnect: true,
    connectionName: 'fencepost-quorum',
    connectTimeout: Math.max(2 * commandTimeoutMs, MIN_CONNECT_MS),
    // `disconnect` is polite for this long and then destroys the socket; a frozen server never closes its end.
    disconnectTimeout: 200,
    maxLoadingRetryTime: 500,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times - 1, 10), MAX_PAUSE_MS) * (0.5 + random() / 2),
  };
}

/** What decides when a server that was reached may vote. */
interface Boot {
  /** As INFO reports it. */
  readonly uptimeSeconds: number;
  /** Whether it wrote to disk all that it ever acknowledged, so that a restart forgets nothing. */
  readonly keepsWrites: boolean;
}

/**
 * After how many milliseconds a server may vote, counted from now.
 *
 * A node that restarted without its last writes may have forgotten a term that still runs, and its vote would make a second
 * majority. After the longest ttl every such term is over ("delayed restarts" on Redis' distributed-lock page).
 */
export function votesInMs({ uptimeSeconds, keepsWrites }: Boot, longestTtlMs: number): number {
  if (keepsWrites) return 0;
  // The difference of two times that were cut to seconds: up to one more than it was.
  return Math.max(0, longestTtlMs - Math.max(0, uptimeSeconds - 1) * 1_000);
}

/**
 * Lets calls through to one node, or says why not.
 *
 * Closed with every connection that ends. A connection belongs to one boot of its server, so what was found out when it began
 * holds for as long as it lasts, and no call has to ask again.
 */
export class QuorumGate {
  readonly #clock: Clock;
  #closed: string | undefined = 'not connected yet';
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  close(because: string): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#closed = because;
  }

  openIn(delayMs: number, because: string): void {
    this.close(because);
    if (delayMs === 0) this.#open();
    else this.#cancel = this.#clock.after(delayMs, () => this.#open());
  }

  /** Makes the call, or rejects while it is closed. */
  pass<T>(call: () => Promise<T>): Promise<T> {
    return this.#closed === undefined ? call() : Promise.reject(new Error(this.#closed));
  }

  #open(): void {
    this.#cancel = undefined;
    this.#closed = undefined;
  }
}
