import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { QueueJob, QueueJobJson, AppJobScheduler } from '@bull-board/api/typings/app';
import type { Telemetry } from '@fencepost/jobs';
import { DeclaredCronError, type CronCatalog, type CronOperator, type RunOperator } from '@fencepost/operations';
import { mapInSlices, ORDER_RECORDS, type CronDirectory } from '@fencepost/operations/internal';
import { lateBy, presentPause } from '@fencepost/operations/presenting';
import type { OccurrenceLog, RunHistory, RunWithEffects } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import { FORMER_QUEUE, UNROUTED_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { mayAs } from '@fencepost/operations/access-tokens';
import { formatFence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { CommandService } from '../api/command-service.js';
import type { ReadGate } from '../api/read-gate.js';
import { refusedRun } from '../api/problems.js';
import { runBefore } from '../api/run-before.js';
import { currentCaller } from '../auth/caller.js';

export interface CronAdapterDeps {
  readonly queue: string;
  /** Whether the board lists crons here whose runs go to that queue. */
  readonly lists: (queue: string) => boolean;
  readonly runs: BullmqRunQueue;
  readonly directory: CronDirectory;
  readonly service: CommandService;
  readonly operator: CronOperator;
  readonly runOperator: Pick<RunOperator, 'retry'>;
  readonly crons: CronCatalog;
  readonly ledger: RunHistory & Pick<OccurrenceLog, 'readCron'>;
  readonly telemetry: Pick<Telemetry, 'emit'>;
  readonly gate: ReadGate;
}

/** More would be a page nobody reads; ours has a search. */
const MAX_SHOWN = 1_000;

const REASON = 'asked for on the board';

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  [FORMER_QUEUE]: 'Runs for workers of former releases, and of all apps while no worker is live.',
  [UNROUTED_QUEUE]: 'Runs whose handler no live worker has: they wait until a worker brings it.',
};

type Job = NonNullable<Awaited<ReturnType<BullMQAdapter['getJob']>>>;

/** The queue of runs as Bull Board shows it, with our crons where it has its own schedulers. */
export class CronAdapter extends BullMQAdapter {
  /** A run that has succeeded is not repeated; to run once more, its cron is triggered. */
  override readonly allowCompletedRetries = false;

  /** What the ledger knew of a job's run when the job was read; by its data, which is all that a formatter is given. */
  readonly #runs = new WeakMap<object, RunWithEffects>();

  constructor(private readonly deps: CronAdapterDeps) {
    super(deps.runs.queues.named(deps.queue), {
      description: DESCRIPTIONS[deps.queue] ?? 'Each job brings a run to a worker; the ledger says what becomes of it.',
      externalJobUrl: ({ data }: QueueJobJson) => ({ displayText: 'Show the run', href: runUrl(data) }),
    });
    // Not the same for all who look, and the board asks at each look.
    Object.defineProperty(this, 'readOnlyMode', { get: () => !mayAs(currentCaller()?.role ?? 'viewer', 'operator') });
    this.setFormatter('name', (job: QueueJobJson) => jobName(job, this.#runOf(job.data)?.run ?? null));
    this.setFormatter('data', (data: unknown) => jobData(data, this.#runOf(data)));
  }

  override async pause(): Promise<void> {
    await this.deps.runs.queues.pause(this.deps.queue);
  }

  override async resume(): Promise<void> {
    await this.deps.runs.queues.resume(this.deps.queue);
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const job = await super.getJob(id);
    if (job) await this.#know([job]);
    return job;
  }

  override async getJobs(...asked: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    return this.deps.gate.run(async () => {
      const jobs = await super.getJobs(...asked);
      await this.#know(jobs);
      return jobs;
    });
  }

  override async getJobSchedulers(): Promise<Scheduler[]> {
    return this.deps.gate.run(() => this.#schedulers());
  }

  async #schedulers(): Promise<Scheduler[]> {
    const shown = await this.#listed();
    const counts = await this.deps.ledger.countRuns(shown.map(({ name }) => name));
    return mapInSlices(shown, ({ name, expression, timeZone, next, last, paused }, n) => ({
      id: name,
      name: schedulerName(name, paused),
      pattern: expression,
      tz: timeZone,
      iterationCount: counts[n] ?? 0,
      ...(next !== null && !isSkipped(next, paused) && { next: Date.parse(next) }),
      ...(last?.startedAt && { lastRun: Date.parse(last.startedAt), lastRunJobId: last.id }),
    }));
  }

  override async getJobSchedulersCount(): Promise<number> {
    return (await this.#listed()).length;
  }

  /** The crons whose runs go through this queue. */
  async #listed(): Promise<readonly Listed[]> {
    const { directory, runs, lists } = this.deps;
    const { items } = await directory.page({ sort: 'name', limit: MAX_SHOWN });
    const shown = items.filter(({ state }) => state !== 'removed');
    const queues = await runs.queuesOf(shown.map(({ name }) => name));
    return shown.filter((_, n) => lists(queues[n] ?? ''));
  }

  override get supportsJobSchedulerUpdate(): boolean {
    return false;
  }

  override get supportsJobSchedulerRun(): boolean {
    return true;
  }

  override async runJobSchedulerNow(cron: string): Promise<QueueJob | 'not-found'> {
    const { service, operator, runs } = this.deps;
    const order = { ...ORDER_RECORDS.trigger, cron, reason: REASON };
    const reply = await service.execute(order, (by) => operator.trigger(cron, { by, reason: REASON }), 'queues');
    if (reply.verdict !== 'claimed') throw refusedRun(cron, reply);
    return (await runs.jobOf(reply.runId)) ?? 'not-found';
  }

  override async removeJobScheduler(cron: string): Promise<boolean> {
    const { crons, service, directory } = this.deps;
    const { entry } = await directory.known(cron);
    const before = { state: entry.state, generation: entry.generation };
    const order = { ...ORDER_RECORDS.remove, cron, reason: REASON, before };
    try {
      await service.execute(order, (by) => crons.remove(cron, { by, reason: REASON }), 'queues');
    } catch (error) {
      if (!(error instanceof DeclaredCronError)) throw error;
      await this.#pauseInstead(error);
    }
    directory.forget();
    return true;
  }

  /** The board has no button for a pause. The cron stays listed, marked as paused. */
  async #pauseInstead({ cron, apps }: DeclaredCronError): Promise<void> {
    const { service, operator, ledger, telemetry } = this.deps;
    const reason = `asked to be removed on the board; paused instead, because code of ${apps.join(' and ')} declares it`;
    const { paused } = await ledger.readCron(cron);
    const order = { ...ORDER_RECORDS.pause, cron, reason, before: paused && presentPause(paused) };
    const { by } = await service.execute(order, (name) => operator.pause(cron, { by: name, reason }), 'queues');
    telemetry.emit('cron.paused-instead', { cron, apps, by });
  }

  /** One read for all jobs of a page. Jobs whose runs can't be read are shown as the queue has them. */
  async #know(jobs: readonly Job[]): Promise<void> {
    const named = jobs.flatMap((job) => {
      const runId = runInData(job.data);
      return runId === null ? [] : [{ job, runId }];
    });
    for (const { job, runId } of named) job.retry = () => this.#retry(runId);
    const runIds = named.map(({ runId }) => runId);
    const found = await this.deps.ledger.readWithEffects(runIds).catch(() => []);
    const known = new Map(found.map((one) => [one.run.id, one]));
    for (const { job, runId } of named) {
      const one = known.get(runId);
      if (!one) continue;
      this.#runs.set(job.data as object, one);
      showAsLedger(job, one.run);
    }
  }

  /** BullMQ would bring a run that is over to a worker once more; an order makes a new run of it. */
  async #retry(runId: string): Promise<void> {
    const { service, runOperator, ledger, directory } = this.deps;
    const order = { action: 'retry', reason: REASON, ...(await runBefore(ledger, runId)) };
    await service.execute(order, (by) => runOperator.retry(runId, { by, reason: REASON }), 'queues');
    directory.forget();
  }

  #runOf(data: unknown): RunWithEffects | null {
    return typeof data === 'object' && data !== null ? (this.#runs.get(data) ?? null) : null;
  }
}

/** BullMQ counts deliveries, ours are attempts of the run: the board shows the number that our page has. */
function showAsLedger(job: Job, { attempt }: Run): void {
  const json = job.toJSON.bind(job);
  job.toJSON = () => ({ ...json(), attemptsMade: attempt, attemptsStarted: attempt });
}

function runInData(data: unknown): string | null {
  const runId: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'runId') : null;
  return typeof runId === 'string' && runId.lastIndexOf('@') > 0 ? runId : null;
}

/** From the board's address, which is the base of its links. */
function runUrl(data: unknown): string {
  const runId = runInData(data);
  return runId === null ? '../' : `../run/${encodeURIComponent(runId)}`;
}

interface Named {
  readonly name: string;
  readonly id?: string | number | null | undefined;
}

/** `nightly-report · 2026-11-21T03:00:00.000Z`, and why it runs where that is not the schedule. */
function jobName({ name }: Named, run: Run | null): string {
  if (!run) return name;
  const why = run.reason === 'schedule' ? '' : ` · ${run.reason}`;
  return `${run.cron} · ${new Date(run.scheduledAt).toISOString()}${why}`;
}

/** What a person wants to know of a delivery: it holds no more than the id of its run, and the ledger has the rest. */
function jobData(data: unknown, known: RunWithEffects | null): unknown {
  if (!known) return data;
  const { run, effects } = known;
  const lateByMs = lateBy(run);
  return {
    runId: run.id,
    cron: run.cron,
    scheduledAt: new Date(run.scheduledAt).toISOString(),
    reason: run.reason,
    by: run.by,
    lateness: lateByMs === null ? (run.startedAt === null ? 'not begun' : 'none') : `${lateByMs} ms`,
    attempt: run.attempt,
    fence: run.fence === null ? null : formatFence(run.fence),
    state: run.state,
    error: run.error,
    worker: run.worker === null ? null : ownerPrefix(run.worker),
    payload: run.payload === null ? null : (JSON.parse(run.payload) as unknown),
    result: run.result === null ? null : (JSON.parse(run.result) as unknown),
    effects: Object.fromEntries(effects.map(({ name, state }) => [name, effectState(state, run)])),
  };
}

/** As our page says it: an effect that was begun by an attempt that has ended may have happened. */
function effectState(state: RunWithEffects['effects'][number]['state'], run: Run): string {
  return state === 'begun' && run.state !== 'running' ? 'unknown' : state;
}

type Listed = Awaited<ReturnType<CronDirectory['page']>>['items'][number];
type Paused = Listed['paused'];

/** The board shows it below the id. */
function schedulerName(cron: string, paused: Paused): string {
  if (paused === null) return cron;
  return `${cron} · paused by ${paused.by}${paused.until === null ? '' : ` until ${paused.until}`}`;
}

/** Whether a pause that is known today covers an instant. */
function isSkipped(instant: string, paused: Paused): boolean {
  return paused !== null && (paused.until === null || Date.parse(instant) < Date.parse(paused.until));
}

type Scheduler = Omit<AppJobScheduler, 'queueName'>;
