import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { Queue } from 'bullmq';
import type { Delivery } from '@fencepost/ledger';
import { cronOfRun, type Run } from '@fencepost/ledger/run';
import { batchingBackend } from './batching-backend.js';
import type { EnqueueSpan, Tracing } from '../telemetry/tracing.js';
import type { Place, QueuedDelivery, RunQueue } from './run-queue.js';

export const QUEUE_NAME = 'runs';

/** The data of a BullMQ job: the key of the run in the ledger. A stale worker could change anything else. */
export interface RunJobData {
  readonly runId: string;
}

/** BullMQ's prefix, hash-tagged so that all keys of the queue share one cluster slot. */
export function queuePrefix({ prefix, tenant }: KeySpace): string {
  return `{${prefix}:${tenant}}`;
}

/** States in which a delivery will still reach a worker. */
const WAITING: readonly string[] = ['waiting', 'delayed', 'prioritized', 'waiting-children'];

/** Finished jobs are kept for Bull Board; the record is in the ledger. The worker says so once, and not each job. */
export const KEPT_JOBS = { count: 1_000, age: 24 * 3_600 };

/** Log lines are read from this many deliveries at most. */
const MAX_LINES = 1_000;
const MAX_DELIVERIES = 20;

export interface BullmqRunQueueOptions extends KeySpace {
  /** The caller closes it. */
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
    const { redis: connection } = options;
    this.queue = new Queue<RunJobData>(
      QUEUE_NAME,
      { connection, prefix: queuePrefix(options) },
      batchingBackend(connection),
    );
    this.queue.on('error', options.onTrouble);
  }

  /**
   * A queue that is known to work. BullMQ reads the server's version once, and a queue that got no reply in time never works
   * again: a process that is busy starting would hold crons and enqueue none of their runs.
   * @throws when the server did not reply; opening another queue may succeed
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

  /** Each job carries its own span: BullMQ's tracing would give all jobs of a bulk the same one. */
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

  /** A redelivery continues the trace of the previous delivery. */
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
          // The ledger counts attempts. BullMQ gets one; a retry moves the same job to delayed.
          attempts: 1,
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

  /** BullMQ's getState searches the whole waiting list, so a missing job would cost more the longer the queue is. */
  async #placeOf(id: string): Promise<Place> {
    if ((await this.#redis.exists(this.queue.toKey(id))) === 0) return null;
    const state = await this.queue.getJobState(id);
    return WAITING.includes(state) ? 'waiting' : state === 'active' ? 'active' : null;
  }

  /** The log of a run's attempts, oldest first, at most 1,000 lines per delivery; removed with their jobs. */
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
 * BullMQ ignores a job whose id it has kept, so each delivery has its own id. No run id ends like this: a re-run ends with
 * `-r2`.
 */
function jobId({ runId, delivery }: Delivery): string {
  return delivery === 1 ? runId : `${runId}-d${delivery}`;
}
