import type { RedisScript } from '@fencepost/lease/internal/redis';
import { NotReplicatedError, type RedisClient } from '@fencepost/lease/redis';
import { checkWhole } from '../base/ledger-request.js';
import { MicroBatcher } from '@fencepost/lease/internal';

export interface ReplicationOptions {
  /** A connection for this alone: WAIT holds it up. Stays the caller's to close. */
  readonly redis: RedisClient;
  /** How many replicas have to have a write before it counts, from 1. */
  readonly replicas: number;
  /** How long the server waits for them, from 1 ms. Has to be shorter than the connection's `commandTimeout`. */
  readonly timeoutMs: number;
}

interface Write {
  readonly script: RedisScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** Scripts that share a WAIT. */
const MAX = 100;

/** On a cluster a WAIT is about one node, so that each write has its own; a node without a replica must not fill the line. */
const UNDER_WAY_ON_CLUSTER = 8;

/** A mark is only there to be replicated. */
const MARK_MS = 10_000;

/**
 * Writes, and answers when so many replicas have that write and all that came before it.
 *
 * One pipeline is under way at a time, and what comes meanwhile goes with the next: they share its WAIT, which costs one round
 * trip between primary and replica. After a write that was not acknowledged, or whose answer got lost, nothing is written until the
 * replicas have acknowledged a mark: while they are away claims and attempts must not be used up one after the other.
 *
 * WAIT narrows the window in which a failover loses what was acknowledged. It doesn't close it: a replica that lags may be
 * promoted although another one has acknowledged (Redis' documentation of WAIT, "Consistency and WAIT").
 */
export class ReplicatedWrites {
  readonly #batch: MicroBatcher<Write, unknown>;
  readonly #doubted = new Set<string>();

  /** @throws {RangeError} for replicas or timeoutMs below 1: 0 would mean none, and for ever */
  constructor(private readonly options: ReplicationOptions) {
    checkWhole('replicas', options.replicas, 1);
    checkWhole('timeoutMs', options.timeoutMs, 1);
    const { isCluster } = options.redis;
    this.#batch = new MicroBatcher<Write, unknown>({
      send: (writes) => this.#send(writes),
      most: isCluster ? 1 : MAX,
      inFlight: isCluster ? UNDER_WAY_ON_CLUSTER : 1,
    });
  }

  /**
   * @param write a script that is idempotent: who is not answered asks again
   * @throws {NotReplicatedError} nobody knows then whether it counts; asked again, it is answered when it does
   */
  ask(write: Write): Promise<unknown> {
    return this.#batch.ask(write);
  }

  async #send(writes: readonly Write[]): Promise<unknown[]> {
    // In the slot of the first write: on a cluster it has to be counted by the same node.
    const mark = `${writes[0]?.keys[0]}:mark`;
    const about = this.#replicasOf(mark);
    if (this.#doubted.has(about)) await this.#write([], mark);
    try {
      const replies = await this.#write(writes, mark);
      this.#doubted.delete(about);
      return replies;
    } catch (error) {
      this.#doubted.add(about);
      throw error;
    }
  }

  /** What a success says something about: on a cluster another node's replicas say nothing of those of this one. */
  #replicasOf(mark: string): string {
    return this.options.redis.isCluster ? mark.slice(0, mark.indexOf('}')) : '';
  }

  /** In one pipeline, which is sent as a whole or not at all: on another connection WAIT would count nothing. */
  async #write(writes: readonly Write[], mark: string): Promise<unknown[]> {
    const { redis, replicas, timeoutMs } = this.options;
    const pipeline = redis.pipeline();
    // EVAL and not EVALSHA: after a NOSCRIPT the script would be sent again behind the WAIT that should count it.
    for (const { script, keys, args } of writes) pipeline.eval(script.text, keys.length, ...keys, ...args);
    // WAIT counts up to the last write of its own connection. A script that finds its nonce known writes nothing, and what
    // it tells of was perhaps written by another connection and never replicated.
    pipeline.set(mark, '', 'PX', MARK_MS);
    const results = (await pipeline.wait(replicas, timeoutMs).exec()) ?? [];
    const [marked, waited] = results.slice(writes.length);
    const acknowledged = Number(resultOf(marked) && resultOf(waited));
    if (acknowledged < replicas) throw new NotReplicatedError(replicas, acknowledged, timeoutMs);
    // A script that failed is its own caller's trouble.
    return results.slice(0, writes.length).map(([error, reply]) => error ?? reply);
  }
}

function resultOf(entry: [error: Error | null, result: unknown] | undefined): unknown {
  if (entry === undefined) throw new Error('Expected an answer to each command of a pipeline, got none.');
  if (entry[0]) throw entry[0];
  return entry[1];
}
