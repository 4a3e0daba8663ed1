import { randomUUID } from 'node:crypto';
import * as bullmq from 'bullmq';
import type { BackendFactory, KeepJobs, MinimalJob, RedisQueueBackend, WorkerOptions } from 'bullmq';
import { MicroBatcher } from '@fencepost/lease/internal';
import { loadScripts } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { backendFactory, QueueBackend, type PlainBackend } from './queue-backend.js';
import type { WorkerQueues } from './worker-queues.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['turn-over-jobs', 'idle-queues']);

/** Short batches, and several at once: while the server has one, the worker prepares the next. */
const MAX_TURNED = 25;
const UNDER_WAY = 4;

/** A job that this worker has from another queue already waits for as long as a run that is executed elsewhere. */
const REFUSED_MS = 1_000;

/** The key that wakes an idle worker for a change of its queues is gone at once, unless the worker is too. */
const WAKE_MS = 10_000;

/** What a worker keeps of the jobs that it completes. */
interface KeptJobs {
  readonly count: number;
  /** Seconds. */
  readonly age: number;
}

/** What a slot may take after its job, if any, in the script's numbers. */
const NOTHING = 0;
const ANY = 1;
/** BullMQ's scripts have been asked for the other queues. */
const PLAIN_ONLY = 2;

/** What a slot of a worker asks for: it completes its job, takes one, or both. */
interface Turn {
  readonly token: string;
  readonly ended: { readonly queue: string; readonly id: string; readonly value: string } | null;
  readonly takes: typeof NOTHING | typeof ANY | typeof PLAIN_ONLY;
}

/** As BullMQ's worker expects it: the job and its id, the delay of a limited queue, and when the next delayed job is due. */
type Taken = unknown[];

interface TurnReply {
  /** Nothing was done where it is not. */
  readonly isPlain: boolean;
  readonly at: number;
  readonly taken: Taken;
  /** Queue of the job taken. */
  readonly queue: string | undefined;
  /** Queues that are left to BullMQ's script, the one first whose turn it is; empty for a slot that took a job. */
  readonly left: readonly string[];
}

type Row = [isPlain: 0 | 1, queue?: number, id?: string, hash?: unknown[]];
type Left = [dueAt: number, ...queues: number[]];

type Completion = Parameters<RedisQueueBackend['moveToCompleted']>;
type Failing = Parameters<RedisQueueBackend['moveToFailed']>;
type Ended = ReturnType<RedisQueueBackend['moveToCompleted']>;
type Delaying = Parameters<RedisQueueBackend['moveToDelayed']>;

/**
 * The store of a worker that takes jobs of several queues, all with one prefix, over one blocking connection. What its slots ask
 * for in one turn of the event loop is done in one script, in BullMQ's own layout. It knows the plain case; BullMQ's scripts do
 * the rest, per queue.
 *
 * Each queue has the first turn in one call of many, and an equal share of the slots in each. What concerns a job goes to its
 * queue. While the worker has a job, it takes no other one with that id: a run may be in two queues that is being moved.
 * @param redis the connection of the worker
 * @returns with BullMQ 5, what makes the worker take from the queue of its name alone
 */
export function workerBackend(redis: RedisClient, queues: WorkerQueues): BackendFactory<RedisQueueBackend> {
  return backendFactory((made) => new WorkerBackend(redis, queues, made));
}

class WorkerBackend extends QueueBackend {
  readonly #redis: RedisClient;
  readonly #queues: WorkerQueues;
  readonly #turns: MicroBatcher<Turn, TurnReply>;
  readonly #stores = new Map<string, RedisQueueBackend>();
  /** The queues looked at last: others are looked at before the worker waits. */
  #seen: readonly string[] = [];
  #calls = 0;
  #isWaiting = false;
  /** The next look at the queues is after a wait. */
  #hasWaited = false;

  constructor(redis: RedisClient, queues: WorkerQueues, { plain, name, options }: PlainBackend) {
    const wake = plain.toKey(`wake:${randomUUID()}`);
    const markers = () => [
      ...queues.names.map((queue) => queueKey((options as { prefix?: string }).prefix ?? '', queue, 'marker')),
      wake,
    ];
    // The driver flattens it: BullMQ's wait for one marker, with all its care for lost connections, is one for many.
    const keys = Object.defineProperty({ ...plain.keys }, 'marker', { get: markers });
    super(plain.connection, name, keys, (type) => plain.toKey(type), options, plain.blockingConnection);
    this.#redis = redis;
    this.#queues = queues;
    const send = (turns: readonly Turn[]) => this.#turnOver(turns);
    this.#turns = new MicroBatcher({ send, most: MAX_TURNED, inFlight: UNDER_WAY });
    queues.onChange(() => this.#isWaiting && this.#wake(wake));
  }

  override async waitForJob(seconds: number): ReturnType<RedisQueueBackend['waitForJob']> {
    this.#hasWaited = true;
    if (this.#seen !== this.#queues.names) return { member: '0', score: 0 };
    this.#isWaiting = true;
    try {
      return await super.waitForJob(seconds);
    } finally {
      this.#isWaiting = false;
    }
  }

  override async moveToActive(token: string): Promise<Taken> {
    if (!this.#kept) return this.#askEach(this.#inTurn(), token);
    return this.#take(token, await this.#turns.ask({ token, ended: null, takes: ANY }));
  }

  override async moveToCompleted(...call: Completion): Ended {
    const [job, returned, removing, token, takesNext] = call;
    const id = job.id ?? '';
    const queue = this.#queues.queueOf(id);
    if (queue !== undefined && this.#kept && isPlain(job)) {
      const ended = { queue, id, value: JSON.stringify(returned) ?? 'null' };
      const takes = takesNext && this.closing === undefined ? ANY : NOTHING;
      const reply = await this.#turns.ask({ token, ended, takes });
      if (reply.isPlain) {
        this.#queues.release(id);
        return { result: takes === NOTHING ? reply.taken : await this.#takeNext(token, reply), finishedOn: reply.at };
      }
    }
    return this.#end(id, { token, takesNext }, (store, next) =>
      store.moveToCompleted(job, returned, removing, token, next),
    );
  }

  override async moveToFailed(...call: Failing): Ended {
    const [job, reason, removing, token, takesNext = false, fields] = call;
    return this.#end(job.id ?? '', { token, takesNext }, (store, next) =>
      store.moveToFailed(job, reason, removing, token, next, fields),
    );
  }

  override async moveToDelayed(...call: Delaying): ReturnType<RedisQueueBackend['moveToDelayed']> {
    const [id, at, delay, token = '0', options = {}] = call;
    const { result } = await this.#end(
      id,
      { token, takesNext: options.fetchNext ?? false },
      async (store, fetchNext) => {
        return { result: await store.moveToDelayed(id, at, delay, token, { ...options, fetchNext }), finishedOn: 0 };
      },
    );
    return result as Awaited<ReturnType<RedisQueueBackend['moveToDelayed']>>;
  }

  override async extendLocks(ids: string[], tokens: string[], duration: number): Promise<string[]> {
    const queueOf = (id: string) => this.#queues.queueOf(id) ?? this.name;
    const lost = [...new Set(ids.map(queueOf))].map((queue) => {
      const places = [...ids.keys()].filter((n) => queueOf(ids[n] ?? '') === queue);
      const of = (values: string[]) => places.map((n) => values[n] ?? '');
      return this.#store(queue).extendLocks(of(ids), of(tokens), duration);
    });
    return (await Promise.all(lost)).flat();
  }

  override async isJobInState(state: string, jobId: string): Promise<boolean> {
    return (await this.#storeOf(jobId)).isJobInState(state, jobId);
  }

  override async moveStalledJobsToWait(): Promise<string[]> {
    const busy = await this.#busyQueues();
    const moved = await Promise.all(busy.map((queue) => this.#store(queue).moveStalledJobsToWait()));
    return moved.flat();
  }

  /** What is about one job, and names it first. */
  async ofJob(method: OfJob, call: readonly unknown[]): Promise<unknown> {
    const [job] = call as [string | { id?: string }];
    const id = typeof job === 'string' ? job : (job.id ?? '');
    const store = (await this.#storeOf(id)) as unknown as Record<string, (...call: unknown[]) => Promise<unknown>>;
    if (!ENDS.has(method)) return store[method]?.(...call);
    return this.#released(id, async () => store[method]?.(...call));
  }

  /** What a plain worker keeps; `null` for one that isn't plain. */
  get #kept(): KeptJobs | null {
    return plainWorker(this.queue.opts);
  }

  /** Another queue has the first turn each time. */
  #inTurn(): readonly string[] {
    const { names } = this.#queues;
    this.#seen = names;
    if (names.length < 2) return names;
    this.#calls += 1;
    const first = this.#calls % names.length;
    return [...names.slice(first), ...names.slice(0, first)];
  }

  #store(queue: string): RedisQueueBackend {
    const known = this.#stores.get(queue);
    if (known) return known;
    const store = this.forQueue(queue) as RedisQueueBackend;
    this.#stores.set(queue, store);
    return store;
  }

  /** The queue that has a job; one that this worker doesn't have is looked for, and preferred while it isn't finished. */
  async #storeOf(id: string): Promise<RedisQueueBackend> {
    const queue = this.#queues.queueOf(id);
    const { names } = this.#queues;
    if (queue !== undefined || names.length < 2) return this.#store(queue ?? names[0] ?? this.name);
    const keys = names.map((name) => queueKey(this.redisPrefix, name, id));
    const found = await Promise.all(keys.map((key) => this.#redis.hmget(key, 'timestamp', 'finishedOn')));
    const open = found.findIndex(([made, finished]) => made && !finished);
    const place = open >= 0 ? open : found.findIndex(([made]) => made);
    return this.#store(names[place] ?? this.name);
  }

  async #released<T>(id: string, end: () => Promise<T>): Promise<T> {
    try {
      const ended = await end();
      this.#queues.release(id);
      return ended;
    } catch (error) {
      // Refused: the job is another's, or gone. It is still this worker's where its store didn't answer, and is ended again.
      if (typeof (error as { code?: unknown }).code === 'number') this.#queues.release(id);
      throw error;
    }
  }

  /** With one queue, BullMQ's script ends the job and takes the next; with several, others may be before it. */
  async #end(
    id: string,
    { token, takesNext }: { readonly token: string; readonly takesNext: boolean },
    end: (store: RedisQueueBackend, takesNext: boolean) => Ended,
  ): Ended {
    const store = await this.#storeOf(id);
    const isAlone =
      this.#queues.names.length === 1 && store.keys[''] === this.#store(this.#queues.names[0] ?? '').keys[''];
    const ended = await this.#released(id, () => end(store, takesNext && isAlone));
    if (!takesNext || this.closing) return ended;
    if (!isAlone) return { ...ended, result: await this.#takeNext(token) };
    const taken = ended.result as Taken | undefined;
    this.#hold(taken, this.#queues.names[0] ?? '');
    return ended;
  }

  /** Its job has ended, whatever becomes of the next one: a slot without a job asks again, and tells what goes wrong then. */
  async #takeNext(token: string, reply?: TurnReply): Promise<Taken> {
    try {
      return reply ? await this.#take(token, reply) : await this.moveToActive(token);
    } catch {
      return [null, 0, 0, 0];
    }
  }

  /** What BullMQ's scripts have to be asked for goes before what is in no queue by then. */
  async #take(token: string, { taken, queue, left }: TurnReply): Promise<Taken> {
    if (queue !== undefined) return this.#hold(taken, queue) ? taken : this.#refuse(token, { taken, queue });
    if (left.length === 0) return taken;
    const asked = await this.#askEach(left, token);
    if (asked[0] || this.#queues.names.length < 2) return asked;
    const rest = await this.#turns.ask({ token, ended: null, takes: PLAIN_ONLY });
    return this.#take(token, {
      ...rest,
      left: [],
      taken: rest.queue === undefined ? sooner(rest.taken, asked) : rest.taken,
    });
  }

  /** One after the other by BullMQ's own script. A limited queue is asked again when it may have jobs, and no other waits for it. */
  async #askEach(names: readonly string[], token: string): Promise<Taken> {
    this.#hasWaited = false;
    let nothing: Taken = [null, 0, 0, 0];
    for (const queue of names) {
      const taken: Taken = await this.#store(queue).moveToActive(
        token,
        (this.queue.opts as Partial<WorkerOptions>).name,
      );
      if (this.#hold(taken, queue)) return taken;
      if (taken[0]) await this.#delay(token, { taken, queue });
      else if (this.#queues.names.length < 2) return taken;
      else nothing = sooner(nothing, taken);
    }
    return nothing;
  }

  #hold(taken: Taken | undefined, queue: string): boolean {
    return Boolean(taken?.[0]) && this.#queues.hold(String(taken?.[1]), queue);
  }

  async #refuse(token: string, job: { readonly taken: Taken; readonly queue: string }): Promise<Taken> {
    await this.#delay(token, job);
    return this.moveToActive(token);
  }

  async #delay(token: string, { taken, queue }: { readonly taken: Taken; readonly queue: string }): Promise<void> {
    const options = { skipAttempt: true };
    await this.#store(queue).moveToDelayed(String(taken[1]), Date.now() + REFUSED_MS, REFUSED_MS, token, options);
  }

  async #busyQueues(): Promise<readonly string[]> {
    const { names } = this.#queues;
    if (names.length < 2) return names;
    const { stalledInterval = 0 } = this.queue.opts as Partial<WorkerOptions>;
    const keys = names.map((queue) => queueKey(this.redisPrefix, queue, ''));
    const places = (await SCRIPTS['idle-queues'].run(this.#redis, keys, [Date.now(), stalledInterval])) as number[];
    return places.map((place) => names[place - 1] ?? this.name);
  }

  #wake(key: string): void {
    const waking = this.#redis.multi().zadd(key, 0, '0').pexpire(key, WAKE_MS).exec();
    // A server that doesn't answer ends the wait, too.
    waking.catch(() => {});
  }

  async #turnOver(turns: readonly Turn[]): Promise<TurnReply[]> {
    const { lockDuration = 0 } = this.queue.opts as Partial<WorkerOptions>;
    const { count = 0, age = 0 } = this.#kept ?? {};
    const sources = this.#inTurn();
    const places = new Map(sources.map((queue, n) => [queue, n + 1]));
    const placeOf = (queue: string) => {
      const place = places.get(queue) ?? places.size + 1;
      places.set(queue, place);
      return place;
    };
    const at = Date.now();
    const args: (string | number)[] = [at, lockDuration, count, age * 1_000, sources.length, this.#hasWaited ? 1 : 0];
    if (turns.some(({ takes }) => takes !== NOTHING)) this.#hasWaited = false;
    for (const { token, ended, takes } of turns) {
      args.push(token, ended ? placeOf(ended.queue) : 0, ended?.id ?? '', ended?.value ?? '', takes);
    }
    const queues = [...places.keys()];
    const keys = queues.map((queue) => queueKey(this.redisPrefix, queue, ''));
    await this.waitUntilReady();
    const rows = (await SCRIPTS['turn-over-jobs'].run(this.#redis, keys, args)) as [...Row[], Left];
    const left = rows.at(-1) as Left;
    return turns.map((_, n) => replyOf(rows[n] as Row, { at, left, queues }));
  }
}

/** Methods whose first parameter is a job or its id, and those of them that end what a worker has to do with it. */
const OF_JOB = [
  'addLog',
  'changeDelay',
  'changePriority',
  'clearLogs',
  'extendLock',
  'getDependencies',
  'getDependencyCounts',
  'getIgnoredChildrenFailures',
  'getJobData',
  'getJobLogs',
  'getProcessedChildrenValues',
  'getState',
  'isFinished',
  'moveJobFromActiveToWait',
  'moveToWaitingChildren',
  'promote',
  'remove',
  'removeChildDependency',
  'removeUnprocessedChildren',
  'retryFinishedJob',
  'retryJob',
  'updateData',
  'updateProgress',
] as const satisfies readonly (keyof RedisQueueBackend)[];
type OfJob = (typeof OF_JOB)[number];
const ENDS: ReadonlySet<OfJob> = new Set(['moveJobFromActiveToWait', 'moveToWaitingChildren', 'retryJob']);

for (const method of OF_JOB) {
  const value = function (this: WorkerBackend, ...call: unknown[]): Promise<unknown> {
    return this.ofJob(method, call);
  };
  Object.defineProperty(WorkerBackend.prototype, method, { value });
}

function queueKey(prefix = 'bull', queue: string, type: string): string {
  return `${prefix}:${queue}:${type}`;
}

interface Batch {
  readonly at: number;
  readonly left: Left;
  readonly queues: readonly string[];
}

function replyOf([plain, place, id, hash]: Row, { at, left: [dueAt, ...places], queues }: Batch): TurnReply {
  const reply = { isPlain: plain === 1, at, queue: undefined, left: [] };
  const nothing = [null, 0, 0, dueAt];
  if (place === undefined) return { ...reply, taken: nothing };
  const queue = queues[place - 1] ?? '';
  if (id !== undefined) return { ...reply, queue, taken: bullmq.raw2NextJobData([hash, id, 0, 0]) };
  const others = places.map((one) => queues[one - 1] ?? '').filter((one) => one !== queue);
  return { ...reply, taken: nothing, left: [queue, ...others] };
}

/** Two replies without a job: the worker looks again when the first of both says so. */
function sooner(one: Taken, other: Taken): Taken {
  const due = [one, other].flatMap(([, , limitMs, dueAt]) => [
    Number(limitMs) > 0 ? Date.now() + Number(limitMs) : 0,
    Number(dueAt),
  ]);
  const times = due.filter((time) => time > 0);
  return [null, 0, 0, times.length > 0 ? Math.min(...times) : 0];
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

export const takesManyQueues = 'createRedisBackend' in bullmq;
