import { LeaseLostError, type Clock } from '@fencepost/lease';
import { RedisSemaphoreStore, type SemaphoreStore } from '@fencepost/lease/internal/semaphores';
import { scrub, scrubText, sleep } from '@fencepost/lease/internal';
import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { DelayedError, Job, Worker, type WorkerOptions } from 'bullmq';
import { BeginPlans } from '../queue/begin-plans.js';
import { RunSteps, type BegunAhead } from '../queue/run-steps.js';
import { takesManyQueues, workerBackend } from '../queue/worker-backend.js';
import { KEPT_JOBS } from '../queue/bullmq-run-queue.js';
import type { Rerouting } from '../queue/rerouting.js';
import { FORMER_QUEUE } from '../queue/routing.js';
import { queuePrefix, type RunJobData } from '../queue/run-queues.js';
import { WorkerQueues } from '../queue/worker-queues.js';
import type { Failure } from '../telemetry/events.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { AttemptDeps, Disposition } from './delivery.js';
import { execute, planOf, type ExecuteDeps } from './execute.js';
import { shownError, reportQueueFailure, reportStoreFailure } from '../telemetry/report-failure.js';
import { LazyAbort } from './lazy-abort.js';
import { ShutdownError } from './errors.js';
import { Limiter } from './limits.js';
import { HeartbeatTimer } from './heartbeat.js';
import type { WakeableDelivery } from './within-limits.js';

export interface RunProcessorOptions extends KeySpace {
  /** For this worker alone, without a limit of retries per request; the caller closes it. */
  readonly redis: RedisClient;
  readonly attempts: AttemptDeps;
  readonly concurrency: number;
  /** Default: the one of former releases. */
  readonly queues?: WorkerQueues;
  /** Names of the handlers whose runs may begin with their jobs; default none. */
  readonly handlers?: () => Iterable<string>;
  /** Where a run goes that this worker has no handler for; default: nowhere. */
  readonly rerouting?: Pick<Rerouting, 'pass'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Where the limits of handlers are kept; default the Redis of the worker. */
  readonly limits?: SemaphoreStore;
}

/** What a stopping worker waits for jobs that are on their way to it. */
const HAND_OVER_MS = 1_000;

/** After the drain deadline, handlers get this long to notice their signal. */
const AFTERMATH_MS = 1_000;

/** Not shorter than the sweep: the run lease finds a dead worker, the stalled check of BullMQ only cleans up. */
const STALLED_INTERVAL_MS = 15_000;

/** A longer blocking fetch may belong to a frozen worker, and swallow the wake-up of a job. Seconds. */
const DRAIN_DELAY_S = 1;

/** No other worker is there to freeze, or to take a job instead. BullMQ waits no longer while jobs are delayed. */
const ALONE_DRAIN_DELAY_S = 10;

/** Stalls are unlimited: the ledger bounds the attempts of a run. */
const MAX_STALLS = 1_000;

/** Each concurrency key has a semaphore; the keys come from payloads. */
const LIMITS_MS = 24 * 3_600_000;

/** A hint that may get lost: without it, the run is delivered later. */
const WAKE_TRIES = 4;
const WAKE_AGAIN_MS = 50;

interface Executing {
  readonly jobId: string | undefined;
  readonly givenUp: LazyAbort;
  readonly work: Promise<void>;
}

/** What a job comes with. */
interface Handed {
  readonly token: string | undefined;
  readonly givenUp: LazyAbort;
  readonly begun: BegunAhead | undefined;
}

/** The only consumer of the queues: executes each delivery as one attempt. */
export class RunProcessor {
  readonly #worker: Worker<RunJobData>;
  readonly #limiter: Limiter;
  /** The same for every run. */
  readonly #deps: ExecuteDeps;
  readonly #queues: WorkerQueues;
  readonly #plans: BeginPlans | undefined;
  readonly #steps: RunSteps | undefined;
  readonly #executing = new Set<Executing>();
  #stopping = false;

  constructor(private readonly options: RunProcessorOptions) {
    const { attempts, clock } = options;
    this.#queues = options.queues ?? new WorkerQueues([FORMER_QUEUE]);
    this.#limiter = this.#limits();
    this.#deps = { heartbeatTimer: new HeartbeatTimer(clock, attempts.ttlMs / 4), ...attempts, limiter: this.#limiter };
    const { ledger, worker, ttlMs } = attempts;
    if (ledger.steps && takesManyQueues) {
      const { steps } = ledger;
      const onTrouble = (error: unknown) => this.#storeTrouble('attempt.begin', error);
      this.#plans = new BeginPlans({ redis: options.redis, steps, onTrouble });
      this.#steps = new RunSteps({ steps, plans: this.#plans, clock, worker, ttlMs });
    }
    const settings: WorkerOptions = {
      connection: options.redis,
      prefix: queuePrefix(options),
      concurrency: options.concurrency,
      autorun: false,
      stalledInterval: STALLED_INTERVAL_MS,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: 1_000,
      drainDelay: DRAIN_DELAY_S,
      removeOnComplete: KEPT_JOBS,
      removeOnFail: KEPT_JOBS,
      ...(attempts.tracing ? { telemetry: attempts.tracing.bullmq as NonNullable<WorkerOptions['telemetry']> } : {}),
    };
    const work = (job: Job<RunJobData>, token?: string) => this.#track(job, token);
    const queues = this.#queues;
    this.#worker = new Worker<RunJobData>(
      queues.names[0] ?? FORMER_QUEUE,
      work,
      settings,
      workerBackend(options.redis, { queues, steps: this.#steps }),
    );
    this.#worker.on('error', (error) => this.#trouble('worker.run', error));
    this.#worker.on('lockRenewalFailed', (jobIds) => {
      for (const { jobId, givenUp } of this.#executing) {
        if (jobId !== undefined && jobIds.includes(jobId)) givenUp.end(new LeaseLostError(`job ${jobId}`, 'refused'));
      }
    });
  }

  /** The number of runs being executed. */
  get running(): number {
    return this.#executing.size;
  }

  /** @throws if BullMQ cannot reach its server: a worker that takes nothing must not look healthy */
  async start(): Promise<void> {
    await this.#worker.waitUntilReady();
    this.plan();
    this.#worker.run().catch((error: unknown) => this.#trouble('worker.run', error));
  }

  /** How long a wait for a job takes: short again at once when another process has come. */
  waitLong(isAlone: boolean): void {
    this.#worker.opts.drainDelay = isAlone ? ALONE_DRAIN_DELAY_S : DRAIN_DELAY_S;
    if (!isAlone) this.#queues.set(this.#queues.names);
  }

  /** To be called again when the handlers, or what their runs ask for, have changed. */
  plan(): void {
    const plans = new Map<string, string>();
    for (const name of this.options.handlers?.() ?? []) {
      const plan = planOf(this.options.attempts, name);
      if (plan !== null) plans.set(name, plan);
    }
    this.#plans?.set(plans);
  }

  /** Takes no new job; waits for the runs in progress until the deadline, then aborts them. */
  async stop(drainDeadlineMs: number): Promise<void> {
    this.#stopping = true;
    const handedOver = this.#steps?.stop();
    // Not awaited: a blocking fetch on an empty queue would delay the drain.
    const paused = this.#worker.pause(true).catch((error: unknown) => this.#trouble('worker.pause', error));
    // Runs that have begun with their jobs are executed.
    if (handedOver) await this.#within(HAND_OVER_MS, handedOver);
    if (!(await this.#drained(drainDeadlineMs))) {
      for (const { givenUp } of this.#executing) givenUp.end(new ShutdownError());
    }
    const drained = await this.#drained(AFTERMATH_MS);
    await Promise.all([paused, this.#worker.close(!drained)]);
    // A hanging run keeps its permit, which expires when the process ends: no other run may start beside it.
    if (drained) await this.#limiter.close().catch((error: unknown) => this.#storeTrouble('permit.release', error));
  }

  async #drained(deadlineMs: number): Promise<boolean> {
    await this.#within(deadlineMs, Promise.allSettled([...this.#executing].map(({ work }) => work)));
    return this.#executing.size === 0;
  }

  async #within(deadlineMs: number, done: Promise<unknown>): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([done, sleep(this.options.clock, deadlineMs, waiting.signal)]);
    waiting.abort();
  }

  async #track(job: Job<RunJobData>, token: string | undefined): Promise<void> {
    const begun = this.#steps?.begunWith(job);
    // Fetched just before the stop: left to another worker, unless the run has begun.
    if (this.#stopping && !begun) return this.#settle(job, token, { kind: 'later', waitMs: 0 });
    const givenUp = new LazyAbort();
    const work = this.#work(job, token, this.#delivery(job, { token, givenUp, begun }));
    const executing = { jobId: job.id, givenUp, work };
    this.#executing.add(executing);
    try {
      await work;
    } finally {
      this.#executing.delete(executing);
    }
  }

  async #work(job: Job<RunJobData>, token: string | undefined, delivery: WakeableDelivery): Promise<void> {
    await this.#settle(job, token, await execute(this.#deps, delivery));
  }

  async #settle(job: Job<RunJobData>, token: string | undefined, disposition: Disposition): Promise<void> {
    switch (disposition.kind) {
      case 'settled':
        return;
      case 'passed':
        // A kept job would keep its id from coming back to this queue.
        job.opts.removeOnComplete = true;
        return;
      case 'failed':
        throw shownError(disposition.error);
      case 'later':
        await job.moveToDelayed(this.options.clock.now() + disposition.waitMs, token);
        throw new DelayedError();
    }
  }

  #delivery(job: Job<RunJobData>, { token, givenUp, begun }: Handed): WakeableDelivery {
    const { clock } = this.options;
    return {
      begun,
      succeed: (end) => this.#steps?.succeed(job, token, end) ?? null,
      runId: job.data.runId,
      jobId: job.id,
      givenUp,
      log: (level, message, { attempt, fence }) => {
        const line = `${new Date(clock.now()).toISOString()} ${level} [attempt ${attempt} · fence ${fence}] ${scrubText(message)}`;
        // A failure to write a log line does not fail the run.
        job.log(line).catch((error: unknown) => this.#trouble('job.log', error));
      },
      progress: (value) =>
        job.updateProgress(scrub(value)).catch((error: unknown) => this.#trouble('job.update-progress', error)),
      pass: async () => (await this.options.rerouting?.pass(job, this.#queues.names)) ?? false,
    };
  }

  #limits(): Limiter {
    const { attempts, clock, redis, prefix, tenant } = this.options;
    const { worker: holder, random, ttlMs } = attempts;
    const {
      limits: store = new RedisSemaphoreStore({ redis, prefix, tenant, kind: 'cron', forgetAfterMs: LIMITS_MS }),
    } = this.options;
    const onTrouble = (operation: Failure['operation'], error: unknown) => this.#storeTrouble(operation, error);
    const wake = (jobId: string) => void this.#wake(jobId);
    return new Limiter({ store, clock, random, holder, ttlMs, onTrouble, wake });
  }

  /** A job that is being moved to delayed is not delayed yet, and would then wait for its full delay. */
  async #wake(jobId: string): Promise<void> {
    for (let tries = 0; tries < WAKE_TRIES && !this.#stopping; tries += 1) {
      try {
        const job = await Job.fromId<RunJobData>(this.#worker, jobId);
        return await job?.promote();
      } catch {
        await sleep(this.options.clock, WAKE_AGAIN_MS);
      }
    }
  }

  #storeTrouble(operation: Failure['operation'], error: unknown): void {
    reportStoreFailure(this.options.telemetry, { operation }, error);
  }

  #trouble(operation: Failure['operation'], error: unknown): void {
    reportQueueFailure(this.options.telemetry, { operation }, error);
  }
}
