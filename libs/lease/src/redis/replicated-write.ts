import { StoreAwayError } from '../base/errors.js';
import { checkWhole } from '../store/lease-request.js';
import type { RedisClient, RedisScript } from './redis-script.js';

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
