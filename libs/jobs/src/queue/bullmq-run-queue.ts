import { systemClock, type Clock } from '@fencepost/lease';
import type { Job } from 'bullmq';
import type { Delivery } from '@fencepost/ledger';
import type { Catalog } from '@fencepost/ledger/catalog';
import { cronOfRun, type Run } from '@fencepost/ledger/run';
import { RedisPodRegistry } from '../pods/redis-pod-registry.js';
import type { EnqueueSpan, Tracing } from '../telemetry/tracing.js';
import { TAKES_BACKENDS } from './backend-base.js';
import { FusedClaims } from './fused-claims.js';
import { Rerouting, type NewJob } from './rerouting.js';
import { FORMER_QUEUE, UNROUTED_QUEUE } from './routing.js';
import { jobId, runJob } from './run-job.js';
import { RunQueues, type RunJobData, type RunQueuesOptions } from './run-queues.js';
import { cronsIn, RunRouter, type CronsOf, type Targets } from './run-router.js';
import { UnroutedRuns, type UnroutedDeps } from './unrouted.js';
import type { Claims, ClaimStep, Place, QueuedDelivery, RunQueue } from './run-queue.js';

/** States in which a delivery will still reach a worker. */
const WAITING: readonly string[] = ['waiting', 'delayed', 'prioritized', 'waiting-children'];

/** Finished jobs are kept for Bull Board; the record is in the ledger. The worker says so once, and not each job. */
export const KEPT_JOBS = { count: 1_000, age: 24 * 3_600 };

/** Log lines are read from this many deliveries at most. */
const MAX_LINES = 1_000;
const MAX_DELIVERIES = 20;

export interface BullmqRunQueueOptions extends RunQueuesOptions {
  readonly tracing?: Tracing | null;
  readonly clock?: Clock;
  readonly cronsOf?: CronsOf;
  /** Told of runs that wait until a worker with their handler is live, and of those that have one again. */
  readonly unrouted?: UnroutedRuns;
}

export interface RoutedQueueOptions extends RunQueuesOptions, UnroutedDeps {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly tracing?: Tracing | null;
}

/** Carries each run to a queue that only workers with its handler take from, see {@link Routing}. */
export class BullmqRunQueue implements RunQueue {
  readonly queues: RunQueues;
  readonly rerouting: Rerouting;
  readonly #router: RunRouter;
  readonly #tracing: Tracing | null;

  constructor(private readonly options: BullmqRunQueueOptions) {
    const { tracing = null, clock = systemClock, cronsOf } = options;
    this.#tracing = tracing;
    this.queues = new RunQueues(options);
    this.#router = new RunRouter({ registry: new RedisPodRegistry(options), clock, ...(cronsOf && { cronsOf }) });
    const add = (targets: readonly string[], jobs: readonly NewJob[]) => this.#addTo(targets, jobs);
    const onRouted = async (runIds: readonly string[]) => this.options.unrouted?.clear(runIds);
    this.rerouting = new Rerouting({ queues: this.queues, router: this.#router, add, onRouted });
  }

  /**
   * A queue that is known to work. BullMQ reads the server's version once, and a queue that got no reply in time never works
   * again: a process that is busy starting would hold crons and enqueue none of their runs.
   * @throws when the server did not reply; opening another queue may succeed
   */
  static async open(options: BullmqRunQueueOptions): Promise<BullmqRunQueue> {
    const runs = new BullmqRunQueue(options);
    try {
      await runs.queues.named(FORMER_QUEUE).waitUntilReady();
      return runs;
    } catch (error) {
      await runs.close();
      throw error;
    }
  }

  /**
   * The same for a process that enqueues: asks the catalog where runs go, and records in the ledger which of them have no worker.
   * @throws when the server did not reply
   */
  static openRouted({ catalog, ledger, telemetry, ...options }: RoutedQueueOptions): Promise<BullmqRunQueue> {
    const unrouted = new UnroutedRuns({ ledger, telemetry });
    return BullmqRunQueue.open({ ...options, cronsOf: cronsIn(catalog), unrouted });
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
    const before = [{ runId, delivery: delivery - 1 }];
    const [job] = await this.#targets(before)
      .then((targets) => this.#jobs(before, targets))
      .catch(() => []);
    return job?.opts.telemetry?.metadata;
  }

  async #add(deliveries: readonly QueuedDelivery[], spans: readonly (EnqueueSpan | undefined)[] = []): Promise<void> {
    const targets = await this.#targets(deliveries);
    await this.#addTo(
      targets.queues,
      deliveries.map(({ priority, delayMs, ...delivery }, index) => {
        const { opts, ...job } = runJob(delivery);
        return {
          ...job,
          opts: {
            ...opts,
            ...(priority !== undefined && { priority }),
            ...(delayMs !== undefined && delayMs > 0 && { delay: Math.ceil(delayMs) }),
            ...(spans[index] && { telemetry: { metadata: spans[index].carrier } }),
          },
        };
      }),
    );
    await this.options.unrouted?.follow(runIdsOf(deliveries), targets);
  }

  #targets(deliveries: readonly Delivery[]): Promise<Targets> {
    return this.#router.targets(runIdsOf(deliveries));
  }

  /** Where runs of the crons go now, in the order given. */
  async queuesOf(crons: readonly string[]): Promise<readonly string[]> {
    return (await this.#router.targets(crons.map((cron) => `${cron}@0`))).queues;
  }

  async #addTo(targets: readonly string[], jobs: readonly NewJob[]): Promise<void> {
    await this.queues.note(targets);
    const of = (name: string) => jobs.filter((_, n) => targets[n] === name);
    await Promise.all(Array.from(new Set(targets), (name) => this.queues.named(name).addBulk(of(name))));
  }

  /** `null` with a queue that BullMQ alone writes to, and where each job carries its span. */
  claimsWith(step: ClaimStep): Claims | null {
    if (!TAKES_BACKENDS || this.#tracing) return null;
    const { redis, unrouted } = this.options;
    return new FusedClaims({ redis, step, queues: this.queues, router: this.#router, unrouted });
  }

  async holds(deliveries: readonly Delivery[]): Promise<Place[]> {
    const targets = await this.#targets(deliveries);
    const jobs = await this.#jobs(deliveries, targets);
    await this.options.unrouted?.follow(runIdsOf(deliveries), targets);
    return Promise.all(jobs.map((job, n) => placeOf(job, targets.queues[n] !== UNROUTED_QUEUE ? targets.taken : null)));
  }

  /** Each is looked for where it belongs, then in the other queues. */
  async #jobs(deliveries: readonly Delivery[], { queues }: Targets): Promise<(Job<RunJobData> | undefined)[]> {
    const find = (name: string, n: number) => this.queues.named(name).getJob(jobId(deliveries[n] as Delivery));
    const found = await Promise.all(queues.map(find));
    const missing = found.flatMap((job, n) => (job ? [] : [n]));
    if (missing.length === 0) return found;
    for (const name of await this.queues.names())
      await Promise.all(missing.map(async (n) => (found[n] ??= await find(name, n))));
    return found;
  }

  /** The job of a run's first delivery. */
  async jobOf(runId: string): Promise<Job<RunJobData> | undefined> {
    const first = [{ runId, delivery: 1 }];
    return (await this.#jobs(first, await this.#targets(first)))[0];
  }

  /** The log of a run's attempts, oldest first, at most 1,000 lines per delivery; removed with their jobs. */
  async logs({ id: runId, delivery }: Pick<Run, 'id' | 'delivery'>): Promise<string[]> {
    const ids = Array.from({ length: Math.min(delivery, MAX_DELIVERIES) }, (_, n) => jobId({ runId, delivery: n + 1 }));
    const queues = await this.queues.all();
    const logsOf = (id: string) => queues.map((queue) => queue.getJobLogs(id, 0, MAX_LINES - 1));
    const found = await Promise.all(ids.flatMap(logsOf));
    return found.flatMap(({ logs }) => logs);
  }

  close(): Promise<void> {
    return this.queues.close();
  }
}

function runIdsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(({ runId }) => runId);
}

/**
 * BullMQ's getState searches the whole waiting list, so a missing job would cost more the longer the queue is.
 * @param taken the queues that live workers take from; `null` for a run that none could bring to a worker
 */
async function placeOf(job: Job<RunJobData> | undefined, taken: ReadonlySet<string> | null): Promise<Place> {
  if (!job) return null;
  const state = await job.getState();
  if (state === 'active') return 'active';
  return WAITING.includes(state) && (taken === null || taken.has(job.queueName)) ? 'waiting' : null;
}
