import { EventEmitter } from 'node:events';
import * as bullmq from 'bullmq';
import type {
  BackendFactory,
  JobJson,
  KeepJobs,
  MinimalJob,
  ParentKeyOpts,
  QueueBaseOptions,
  RedisQueueBackend,
  WorkerOptions,
} from 'bullmq';
import { MicroBatcher } from '@fencepost/lease/internal';
import { loadScripts } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['add-jobs', 'turn-over-jobs']);

/** In the order in which the scripts take them. */
const ADD_KEYS = 'wait meta id events marker active'.split(' ');
const TURN_KEYS = 'wait active prioritized events stalled delayed meta pc marker completed'.split(' ');

/** A script holds up everybody else's commands while it runs: so many jobs take about one millisecond. */
const MAX_ADDED = 250;

/** Shorter batches, and more of them: while the server has one, the worker prepares the next. */
const MAX_TURNED = 25;
const UNDER_WAY = 4;

/** A job as BullMQ hands it to its store. */
interface NewJob {
  readonly job: JobJson;
  readonly jobId: string;
  readonly parentKeyOpts?: ParentKeyOpts;
}

/** What a worker keeps of the jobs that it completes. */
interface KeptJobs {
  readonly count: number;
  /** Seconds. */
  readonly age: number;
}

/** What a slot of a worker asks for: it completes its job, takes one, or both. */
interface Turn {
  readonly token: string;
  readonly ended: { readonly id: string; readonly value: string } | null;
  readonly takes: boolean;
}

/** As BullMQ's worker expects it: the job and its id, the delay of a limited queue, and when the next delayed job is due. */
type Taken = unknown[];

interface TurnReply {
  /** Nothing was done where it is not. */
  readonly isPlain: boolean;
  readonly at: number;
  /** `null`: to be asked of BullMQ's own script. */
  readonly taken: Taken | null;
}

type Row = [isPlain: 0 | 1, id?: string, hash?: unknown[]];
/** What a batch left: to be asked of BullMQ's own script, or when the next delayed job is due. */
type Left = 'ASK' | number;

/** BullMQ 5 knows one store, and takes no other. */
const { RedisQueueBackend: Base, createRedisBackend } = bullmq as Partial<typeof bullmq>;

/**
 * A store of BullMQ that does what is asked in one turn of the event loop in one script, in BullMQ's own layout: any queue, worker
 * or board of BullMQ reads what it writes, and it reads what they write. It knows the plain case; BullMQ's scripts do the rest.
 * @param redis the connection of the queue or worker
 * @returns with BullMQ 5, which has no such interface, what makes its queues and workers use their own
 */
export function batchingBackend(redis: RedisClient): BackendFactory<RedisQueueBackend> {
  if (!createRedisBackend) return undefined as unknown as BackendFactory<RedisQueueBackend>;
  return (name, options, connections) => {
    const plain = createRedisBackend(name, options, connections);
    // It has made the connections, and their errors are told by the one that works with them.
    plain.on('error', () => {});
    return new BatchingBackend(redis, plain, { name, options });
  };
}

type Completion = Parameters<RedisQueueBackend['moveToCompleted']>;
type Completed = ReturnType<RedisQueueBackend['moveToCompleted']>;

class BatchingBackend extends (Base ?? (EventEmitter as unknown as typeof RedisQueueBackend)) {
  readonly #redis: RedisClient;
  readonly #addKeys: readonly string[];
  readonly #turnKeys: readonly string[];
  readonly #turns: MicroBatcher<Turn, TurnReply>;

  constructor(redis: RedisClient, plain: RedisQueueBackend, as: { name: string; options: QueueBaseOptions }) {
    super(plain.connection, as.name, plain.keys, (type) => plain.toKey(type), as.options, plain.blockingConnection);
    this.#redis = redis;
    this.#addKeys = ADD_KEYS.map((key) => this.toKey(key));
    this.#turnKeys = TURN_KEYS.map((key) => this.toKey(key));
    const send = (turns: readonly Turn[]) => this.#turnOver(turns);
    this.#turns = new MicroBatcher({ send, most: MAX_TURNED, inFlight: UNDER_WAY });
  }

  override async addJobs(entries: NewJob[]): Promise<string[]> {
    const plain: [NewJob, options: string][] = [];
    const others: NewJob[] = [];
    for (const entry of entries) {
      const options = plainOptions(entry);
      if (options === null) others.push(entry);
      else plain.push([entry, options]);
    }
    for (let n = 0; n < plain.length; n += MAX_ADDED) await this.#add(plain.slice(n, n + MAX_ADDED));
    const ids = others.length === 0 ? [] : await super.addJobs(others);
    const idOf = new Map(others.map((entry, n) => [entry, ids[n] ?? entry.jobId]));
    return entries.map((entry) => idOf.get(entry) ?? entry.jobId);
  }

  override async moveToActive(token: string, name?: string): Promise<Taken> {
    if (!this.#kept) return super.moveToActive(token, name);
    const { taken } = await this.#turns.ask({ token, ended: null, takes: true });
    return taken ?? super.moveToActive(token, name);
  }

  override async moveToCompleted(...call: Completion): Completed {
    const [job, returned, , token, takesNext] = call;
    if (!this.#kept || !isPlain(job)) return super.moveToCompleted(...call);
    const ended = { id: job.id ?? '', value: JSON.stringify(returned) ?? 'null' };
    const reply = await this.#turns.ask({ token, ended, takes: takesNext && this.closing === undefined });
    if (!reply.isPlain) return super.moveToCompleted(...call);
    return { result: reply.taken ?? (await super.moveToActive(token)), finishedOn: reply.at };
  }

  /** What a plain worker keeps; `null` for one that isn't plain. */
  get #kept(): KeptJobs | null {
    return plainWorker(this.queue.opts);
  }

  async #add(jobs: readonly [NewJob, options: string][]): Promise<void> {
    const args: (string | number)[] = [this.toKey('')];
    for (const [{ job, jobId }, options] of jobs) args.push(jobId, job.name, job.data, options, job.timestamp);
    await this.waitUntilReady();
    await SCRIPTS['add-jobs'].run(this.#redis, this.#addKeys, args);
  }

  async #turnOver(turns: readonly Turn[]): Promise<TurnReply[]> {
    const { lockDuration = 0 } = this.queue.opts as Partial<WorkerOptions>;
    const { count = 0, age = 0 } = this.#kept ?? {};
    const at = Date.now();
    const args: (string | number)[] = [this.toKey(''), at, lockDuration, count, age * 1_000];
    for (const { token, ended, takes } of turns) args.push(token, ended?.id ?? '', ended?.value ?? '', takes ? 1 : 0);
    await this.waitUntilReady();
    const rows = (await SCRIPTS['turn-over-jobs'].run(this.#redis, this.#turnKeys, args)) as [...Row[], Left];
    const left = rows.at(-1) as Left;
    return turns.map(({ takes }, n) => replyOf(rows[n] as Row, { at, takes, left }));
  }
}

function replyOf([plain, id, hash]: Row, { at, takes, left }: { at: number; takes: boolean; left: Left }): TurnReply {
  const reply = { isPlain: plain === 1, at };
  if (id !== undefined) return { ...reply, taken: bullmq.raw2NextJobData([hash, id, 0, 0]) };
  return { ...reply, taken: takes && left === 'ASK' ? null : [null, 0, 0, left] };
}

const PLAIN: ReadonlySet<string> = new Set(['attempts', 'jobId', 'telemetry']);

/**
 * The options of a plain job as BullMQ stores them.
 * @returns `null` for a job with a delay, a priority, a parent or anything else that takes more than a place in the queue
 */
function plainOptions({ job, jobId }: NewJob): string | null {
  const { attempts, jobId: own, telemetry } = job.opts;
  if (jobId !== own || job.parentKey !== undefined || telemetry?.omitContext !== undefined) return null;
  for (const [name, value] of Object.entries(job.opts)) if (isGiven(value) && !PLAIN.has(name)) return null;
  return JSON.stringify({ attempts, jobId, tm: telemetry?.metadata });
}

/** @returns `null` where a worker does more than take jobs one after the other, and keep some of the completed ones */
function plainWorker(options: Partial<WorkerOptions>): KeptJobs | null {
  const { limiter, metrics, name, removeOnComplete: kept } = options;
  if (limiter || metrics || name !== undefined || typeof kept !== 'object') return null;
  const { count, age, ...others } = kept as KeepJobs & Partial<KeptJobs>;
  return count && age && Object.values(others).every((one) => !isGiven(one)) ? { count, age } : null;
}

/** Whether the end of a job concerns nobody else, as far as the worker knows. */
function isPlain({ parent, parentKey, deduplicationId, opts }: EndedJob): boolean {
  return !parent && !parentKey && !deduplicationId && !isGiven(opts.removeOnComplete);
}

type EndedJob = Pick<MinimalJob, 'opts' | 'parent' | 'parentKey'> & { readonly deduplicationId?: string | undefined };

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
