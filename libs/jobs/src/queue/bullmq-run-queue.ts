import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { Queue } from 'bullmq';
import type { Delivery } from '@fencepost/ledger';
import { cronOfRun, type Run } from '@fencepost/ledger/run';
import type { EnqueueSpan, Tracing } from '../telemetry/tracing.js';
import type { Place, QueuedDelivery, RunQueue } from './run-queue.js';

export const QUEUE_NAME = 'runs';

/** What a BullMQ job of ours holds: enough to ask the ledger. Anything more could be changed by a stale worker. */
export interface RunJobData {
  readonly runId: string;
}

/** BullMQ's prefix, hash-tagged so that all keys of the queue share one cluster slot. */
export function queuePrefix({ prefix, tenant }: KeySpace): string {
  return `{${prefix}:${tenant}}`;
}

/** States in which a delivery will still reach a worker. */
const WAITING: readonly string[] = ['waiting', 'delayed', 'prioritized', 'waiting-children'];

/** Finished jobs are kept for people to look at; the ledger has its own record. */
const KEEP = { count: 1_000, age: 24 * 3_600 };

/** What a person reads through; a run that was delivered more often has other worries. */
const MAX_LINES = 1_000;
const MAX_DELIVERIES = 20;

export interface BullmqRunQueueOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
  readonly onTrouble: (error: Error) => void;
  readonly tracing?: Tracing | null;
}

export class BullmqRunQueue implements RunQueue {
  /** For Bull Board. */
  readonly queue: Queue<RunJobData>;
  readonly #redis: RedisClient;
  readonly #tracing: Tracing | null;

  constructor(options: BullmqRunQueueOptions) {
    this.#redis = options.redis;
    this.#tracing = options.tracing ?? null;
    this.queue = new Queue<RunJobData>(QUEUE_NAME, { connection: options.redis, prefix: queuePrefix(options) });
    this.queue.on('error', options.onTrouble);
  }

  /**
   * A queue that is known to work. BullMQ asks the server once for its version, and a queue whose question got no answer
   * in time never works again: a process that is busy with its own start would hold crons and enqueue none of their runs.
   * @throws when the server did not answer; another queue may be opened then
   */
  static async open(options: BullmqRunQueueOptions): Promise<BullmqRunQueue> {
    const runs = new BullmqRunQueue(options);
    try {
      await runs.queue.waitUntilReady();
      return runs;
    } catch (error) {
      await runs.close();
      throw error;
    }
  }

  enqueue(deliveries: readonly QueuedDelivery[]): Promise<void> {
    return this.#tracing ? this.#enqueueTraced(this.#tracing, deliveries) : this.#add(deliveries);
  }

  /** Each job bears its own span: BullMQ's own tracing would give all of a bulk the same one. */
  async #enqueueTraced(tracing: Tracing, deliveries: readonly QueuedDelivery[]): Promise<void> {
    const spans = await Promise.all(
      deliveries.map(async (one) => {
        const { runId, delivery } = one;
        return tracing.enqueueing({ cron: cronOfRun(runId), runId, delivery, from: await this.#origin(one) });
      }),
    );
    try {
      await this.#add(deliveries, spans);
      for (const span of spans) span?.end();
    } catch (error) {
      for (const span of spans) span?.end(error);
      throw error;
    }
  }

  /** What is handed over again goes on with the trace of the delivery before. */
  async #origin({ runId, delivery, trace }: QueuedDelivery): Promise<string | undefined> {
    if (trace !== undefined || delivery === 1) return trace;
    const before = await this.queue.getJob(jobId({ runId, delivery: delivery - 1 })).catch(() => undefined);
    return before?.opts.telemetry?.metadata;
  }

  async #add(deliveries: readonly QueuedDelivery[], spans: readonly (EnqueueSpan | undefined)[] = []): Promise<void> {
    await this.queue.addBulk(
      deliveries.map(({ runId, delivery, priority, delayMs }, index) => ({
        name: cronOfRun(runId),
        data: { runId },
        opts: {
          jobId: jobId({ runId, delivery }),
          // The ledger owns attempts: BullMQ gets one, and a retry is a delayed move of the same job.
          attempts: 1,
          removeOnComplete: KEEP,
          removeOnFail: KEEP,
          ...(priority !== undefined && { priority }),
          ...(delayMs !== undefined && delayMs > 0 && { delay: Math.ceil(delayMs) }),
          ...(spans[index] && { telemetry: { metadata: spans[index].carrier } }),
        },
      })),
    );
  }

  async holds(deliveries: readonly Delivery[]): Promise<Place[]> {
    return Promise.all(deliveries.map((delivery) => this.#placeOf(jobId(delivery))));
  }

  /** BullMQ looks for a state in the whole waiting list, so a job that is gone would cost more the longer the queue is. */
  async #placeOf(id: string): Promise<Place> {
    if ((await this.#redis.exists(this.queue.toKey(id))) === 0) return null;
    const state = await this.queue.getJobState(id);
    return WAITING.includes(state) ? 'waiting' : state === 'active' ? 'active' : null;
  }

  /** What a run's attempts have written, oldest first, at most 1,000 lines of each delivery; gone with their jobs. */
  async logs({ id: runId, delivery }: Pick<Run, 'id' | 'delivery'>): Promise<string[]> {
    const ids = Array.from({ length: Math.min(delivery, MAX_DELIVERIES) }, (_, n) => jobId({ runId, delivery: n + 1 }));
    const found = await Promise.all(ids.map((id) => this.queue.getJobLogs(id, 0, MAX_LINES - 1)));
    return found.flatMap(({ logs }) => logs);
  }

  close(): Promise<void> {
    return this.queue.close();
  }
}

/**
 * A kept job with the same id would swallow a re-delivery, so each delivery has an id of its own. No run ends with it: what
 * runs again is called `-r2`.
 */
function jobId({ runId, delivery }: Delivery): string {
  return delivery === 1 ? runId : `${runId}-d${delivery}`;
}
