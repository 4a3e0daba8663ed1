import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { Queue, type JobType } from 'bullmq';
import { batchingBackend } from './batching-backend.js';
import { FORMER_QUEUE, isOwnQueue, queueOfGroup, UNROUTED_QUEUE } from './routing.js';

/** The data of a BullMQ job: the key of the run in the ledger. A stale worker could change anything else. */
export interface RunJobData {
  readonly runId: string;
}

/** BullMQ's prefix, hash-tagged so that all keys of the queues share one cluster slot. */
export function queuePrefix({ prefix, tenant }: KeySpace): string {
  return `{${prefix}:${tenant}}`;
}

interface RedisSpace extends KeySpace {
  readonly redis: RedisClient;
}

/** Those that runs have gone through: the queues of apps and pools, then {@link FORMER_QUEUE} and {@link UNROUTED_QUEUE}. */
export async function queueNames({ redis, ...space }: RedisSpace): Promise<string[]> {
  const names = new Set(await redis.smembers(namesKey(space)));
  const isUnrouted = names.delete(UNROUTED_QUEUE);
  names.delete(FORMER_QUEUE);
  return [...[...names].toSorted(), FORMER_QUEUE, ...(isUnrouted ? [UNROUTED_QUEUE] : [])];
}

function namesKey(space: KeySpace): string {
  return redisKeys(space)('catalog', 'queues');
}

export interface RunQueuesOptions extends KeySpace {
  /** The caller closes it. */
  readonly redis: RedisClient;
  readonly onTrouble: (error: Error) => void;
}

/** The queues of BullMQ that runs go through, over one connection. Each is made when it is first needed. */
export class RunQueues {
  readonly #queues = new Map<string, Queue<RunJobData>>();
  readonly #noted = new Set<string>();
  readonly #namesKey: string;

  constructor(private readonly options: RunQueuesOptions) {
    this.#namesKey = namesKey(options);
  }

  named(name: string): Queue<RunJobData> {
    const known = this.#queues.get(name);
    if (known) return known;
    const { redis: connection, onTrouble } = this.options;
    const settings = { connection, prefix: queuePrefix(this.options) };
    const queue = new Queue<RunJobData>(name, settings, batchingBackend(connection));
    queue.on('error', onTrouble);
    this.#queues.set(name, queue);
    return queue;
  }

  /** As {@link queueNames}. */
  names(): Promise<string[]> {
    return queueNames(this.options);
  }

  async all(): Promise<Queue<RunJobData>[]> {
    return (await this.names()).map((name) => this.named(name));
  }

  /** Makes queues known to all processes that look for a run, or show the queues. */
  async note(names: readonly string[]): Promise<void> {
    const unknown = names.filter((name) => name !== FORMER_QUEUE && !this.#noted.has(name));
    if (unknown.length === 0) return;
    const fresh = await this.#fresh(unknown.filter(isOwnQueue));
    await this.#pauseLikeApps(fresh);
    await this.options.redis.sadd(this.#namesKey, ...unknown);
    // Paused meanwhile: whoever did so may not have seen these.
    await this.#pauseLikeApps(fresh);
    for (const name of unknown) this.#noted.add(name);
  }

  async #fresh(names: readonly string[]): Promise<string[]> {
    if (names.length === 0) return [];
    const known = await this.options.redis.smismember(this.#namesKey, ...names);
    return names.filter((_, n) => known[n] === 0);
  }

  /** The first deploy after a pause brings new groups: their runs are runs of the app that was paused. */
  async #pauseLikeApps(groups: readonly string[]): Promise<void> {
    for (const name of groups) {
      const app = queueOfGroup(name);
      if (app !== null && (await this.named(app).isPaused())) await this.named(name).pause();
    }
  }

  /** A queue, and those of its groups: a person who pauses the queue of an app means all its runs. */
  async pause(name: string): Promise<void> {
    for (const queue of await this.#withGroups(name)) await queue.pause();
  }

  async resume(name: string): Promise<void> {
    for (const queue of await this.#withGroups(name)) await queue.resume();
  }

  async #withGroups(name: string): Promise<Queue<RunJobData>[]> {
    const groups = (await this.names()).filter((other) => queueOfGroup(other) === name);
    return [name, ...groups].map((one) => this.named(one));
  }

  /** An empty queue, with the jobs that it has kept: the ledger has the record of their runs. */
  async remove(name: string): Promise<void> {
    await this.named(name).obliterate();
    await this.options.redis.srem(this.#namesKey, name);
    this.#noted.delete(name);
  }

  /** Jobs in each state, over all queues; default: of all states. */
  async counts(...states: JobType[]): Promise<Readonly<Record<string, number>>> {
    const total: Record<string, number> = {};
    for (const counts of await Promise.all((await this.all()).map((queue) => queue.getJobCounts(...states))))
      for (const [state, count] of Object.entries(counts)) total[state] = (total[state] ?? 0) + count;
    return total;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#queues.values(), (queue) => queue.close()));
  }
}
