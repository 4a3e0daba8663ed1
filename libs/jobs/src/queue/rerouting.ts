import type { Job, Queue } from 'bullmq';
import { isOwnQueue, UNROUTED_QUEUE } from './routing.js';
import type { RunJobData, RunQueues } from './run-queues.js';
import type { RunRouter } from './run-router.js';

/** A job to be added to a queue. */
export type NewJob = Pick<Job<RunJobData>, 'name' | 'data' | 'opts'>;

export interface ReroutingDeps {
  readonly queues: RunQueues;
  readonly router: RunRouter;
  /** Adds each job to the queue at the same place of the list. */
  readonly add: (targets: readonly string[], jobs: readonly NewJob[]) => Promise<void>;
  /** Told of runs that no worker could execute, and now one can. */
  readonly onRouted?: (runIds: readonly string[]) => Promise<void>;
}

const MOVED_AT_ONCE = 100;
const MOVABLE = ['waiting', 'delayed', 'prioritized'] as const;

/** Every worker looks at each change of pods. A sweep delivers again what lies behind this many runs that stay. */
const MAX_STAYING = 1_000;

/** Takes runs to where they belong when workers have come or gone. Of two deliveries of a run, the ledger begins one. */
export class Rerouting {
  constructor(private readonly deps: ReroutingDeps) {}

  /** Empties the queues that no live worker takes from, as far as their runs have a worker elsewhere. */
  async reroute(): Promise<void> {
    const { queues, router } = this.deps;
    const { taken } = await router.targets([]);
    if (taken === null) return;
    for (const name of await queues.names()) if (!taken.has(name)) await this.#empty(name);
  }

  /**
   * Hands on a run that a worker has taken and can't execute.
   * @param taken the queues of that worker
   * @returns whether the run belongs to another queue, where it is now
   */
  async pass(job: NewJob, taken: readonly string[]): Promise<boolean> {
    const { queues } = await this.deps.router.targets([job.data.runId]);
    if (queues.some((target) => taken.includes(target))) return false;
    await this.deps.add(queues, [again(job)]);
    return true;
  }

  async #empty(name: string): Promise<void> {
    const queue = this.deps.queues.named(name);
    for (const state of MOVABLE) await this.#emptyOf(queue, state);
    const left = await queue.getJobCounts('active', ...MOVABLE);
    if (isOwnQueue(name) && Object.values(left).every((count) => count === 0)) await this.deps.queues.remove(name);
  }

  async #emptyOf(queue: Queue<RunJobData>, state: (typeof MOVABLE)[number]): Promise<void> {
    // What stays is passed over; what was moved is no longer there.
    for (let staying = 0; staying < MAX_STAYING;) {
      const jobs = await queue.getJobs(state, staying, staying + MOVED_AT_ONCE - 1, true);
      if (jobs.length === 0) break;
      staying += jobs.length - (await this.#move(jobs, queue.name));
    }
  }

  /** @returns how many of them are in another queue now, to which they belong */
  async #move(jobs: readonly (Job<RunJobData> | undefined)[], from: string): Promise<number> {
    const found = jobs.filter((job) => job !== undefined);
    const { queues } = await this.deps.router.targets(found.map(({ data }) => data.runId));
    const isElsewhere = (n: number) => queues[n] !== from && queues[n] !== UNROUTED_QUEUE;
    const moved = found.filter((_, n) => isElsewhere(n));
    await this.deps.add(
      queues.filter((_, n) => isElsewhere(n)),
      moved.map(again),
    );
    if (from === UNROUTED_QUEUE) await this.deps.onRouted?.(moved.map(({ data }) => data.runId));
    // A job that a worker has taken meanwhile can't be removed.
    const removed = await Promise.allSettled(moved.map((job) => job.remove()));
    return removed.filter(({ status }) => status === 'fulfilled').length;
  }
}

/** Without its delay: the ledger says when a run is due. */
function again({ name, data, opts }: NewJob): NewJob {
  const { jobId, attempts, priority, telemetry } = opts;
  const options = { jobId, attempts, ...(priority && { priority }), ...(telemetry && { telemetry }) };
  return { name, data, opts: options as NewJob['opts'] };
}
