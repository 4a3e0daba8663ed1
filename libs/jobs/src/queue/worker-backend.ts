import { randomUUID } from 'node:crypto';
import * as bullmq from 'bullmq';
import type { BackendFactory, RedisQueueBackend, WorkerOptions } from 'bullmq';
import type { RedisClient } from '@fencepost/lease/redis';
import { BackendBase, backendFactory, type BackendOwner } from './backend-base.js';
import { actOnQueues } from './job-methods.js';
import { JobTurns } from './job-turns.js';
import { isPlainEnd, plainWorker, type KeptJobs } from './plain-jobs.js';
import type { RunSteps } from './run-steps.js';
import type { Taken, TurnReply } from './turn.js';
import type { WorkerQueues } from './worker-queues.js';

/** A worker of BullMQ 5 takes jobs from the queue that it is named after, and from no other. */
export const takesManyQueues = 'createRedisBackend' in bullmq;

/**
 * The backend of a BullMQ worker that takes jobs from several queues, over the connections of one. The requests of one tick of
 * the event loop are one script, in BullMQ's own layout: any queue, worker or board of BullMQ reads what it writes, and the other
 * way round. It knows the plain case; BullMQ's scripts do the rest, queue by queue.
 *
 * The queues have one prefix with a hash tag. The methods that concern one job act on the queue that the job was taken from; the
 * others act on the queue that the worker is named after.
 * @param redis the connection of the worker
 * @returns `undefined` with BullMQ 5, whose workers then use their own backend
 */
export function workerBackend(redis: RedisClient, taking: Taking): BackendFactory<RedisQueueBackend> {
  return backendFactory((plain, owner) => new WorkerBackend({ redis, taking, plain, owner }));
}

/** What a worker takes. */
export interface Taking {
  readonly queues: WorkerQueues;
  /** With which the runs of jobs begin and end; default: by themselves. */
  readonly steps?: RunSteps | undefined;
}

/** A run that is in two queues is executed once: its second job is set aside for this long. */
const SECOND_MS = 1_000;

/** A wake-up that no wait has popped goes away. */
const WAKE_MS = 10_000;

type Completion = Parameters<RedisQueueBackend['moveToCompleted']>;
type Completed = ReturnType<RedisQueueBackend['moveToCompleted']>;
type Failure = Parameters<RedisQueueBackend['moveToFailed']>;
type Failed = ReturnType<RedisQueueBackend['moveToFailed']>;
type Delay = Parameters<RedisQueueBackend['moveToDelayed']>;
type Woken = ReturnType<RedisQueueBackend['waitForJob']>;
type BlockingClient = Awaited<NonNullable<RedisQueueBackend['blockingClient']>>;

interface WorkerBackendParts {
  readonly redis: RedisClient;
  readonly taking: Taking;
  readonly plain: RedisQueueBackend;
  readonly owner: BackendOwner;
}

class WorkerBackend extends BackendBase {
  readonly #redis: RedisClient;
  readonly #queues: WorkerQueues;
  readonly #steps: RunSteps | undefined;
  readonly #turns: JobTurns;
  /** BullMQ's own, one per queue, over the connections of this one. */
  readonly #backends = new Map<string, RedisQueueBackend>();
  /** A marker of this worker alone. */
  readonly #id = randomUUID();
  readonly #wakeKey = this.toKey(`wake:${this.#id}`);
  /** `null`: BullMQ's own scripts do everything. */
  readonly #kept: KeptJobs | null;
  #isWaiting = false;

  constructor({ redis, taking: { queues, steps }, plain, owner }: WorkerBackendParts) {
    super(plain, owner);
    this.#redis = redis;
    this.#queues = queues;
    this.#steps = steps;
    const options: Partial<WorkerOptions> = this.queue.opts;
    const kept = plainWorker(options);
    this.#kept = kept;
    this.#turns = new JobTurns({
      redis,
      queues,
      ready: () => this.waitUntilReady(),
      keyPrefix: (queue) => this.#of(queue).toKey(''),
      lockDurationMs: () => options.lockDuration ?? 0,
      kept: kept ?? { count: 0, age: 0 },
      lastCallKey: (lane) => this.toKey(`turn:${this.#id}:${lane}`),
      steps,
    });
    if (kept) {
      steps?.through({ ask: (turn) => this.#turns.ask(turn), takesMore: () => this.closing === undefined });
    }
    queues.onChange = () => this.#wake();
    Object.defineProperty(this.queue, 'blockingClient', { get: () => this.#waitingClient() });
  }

  override async moveToActive(token: string, name?: string): Promise<Taken> {
    return this.#kept ? this.#take(token, 'any') : this.#askAll(this.#queues.names, token, name);
  }

  override async moveToCompleted(...call: Completion): Completed {
    const [job, returned, , token, takesNext] = call;
    const id = job.id ?? '';
    const before = this.#steps?.completedOf(id);
    if (before) return this.#completed(before, { token, takesNext });
    if (!this.#kept || !isPlainEnd(job)) return this.#complete(call);
    const ended = { id, value: JSON.stringify(returned) ?? 'null' };
    const reply = await this.#turns.ask({
      token,
      ended,
      takes: takesNext && this.closing === undefined ? 'any' : 'no',
    });
    return reply.isPlain ? this.#completed(reply, { token, takesNext }) : this.#complete(call);
  }

  /** A job that the slot has got goes to the worker even if that is stopping by now: its run may have begun. */
  async #completed(reply: TurnReply, { token, takesNext }: { token: string; takesNext: boolean }): Completed {
    const { job: next, at } = reply;
    // The common case, without the wait of another promise.
    if (next && !next.isSecond) return { result: next.taken, finishedOn: at };
    if (!next && (!takesNext || this.closing !== undefined)) return { result: undefined, finishedOn: at };
    // BullMQ's worker takes an empty list for an empty queue.
    return { result: await this.#taken(reply, token), finishedOn: at };
  }

  override async moveToFailed(...call: Failure): Failed {
    const [job, reason, removal, token, takesNext, fields] = call;
    const fail = (backend: RedisQueueBackend) => backend.moveToFailed(job, reason, removal, token, false, fields);
    return this.#thenTake(await this.end(job.id ?? '', fail), takesNext ? token : null);
  }

  override async moveToDelayed(...call: Delay): Promise<Taken | undefined> {
    const [id, at, delay, token, { fetchNext = false, ...options } = {}] = call;
    await this.end(id, (backend) => backend.moveToDelayed(id, at, delay, token, options));
    return fetchNext && token !== undefined ? this.moveToActive(token) : undefined;
  }

  override async isJobInState(state: string, jobId: string): Promise<boolean> {
    return this.onQueueOf(jobId, (backend) => backend.isJobInState(state, jobId));
  }

  override async extendLocks(ids: string[], tokens: string[], duration: number): Promise<string[]> {
    const queues = new Set(ids.map((id) => this.#queues.queueOf(id)));
    const refused = await Promise.all(
      Array.from(queues, (queue) => {
        const isThere = (_one: string, n: number) => this.#queues.queueOf(ids[n] as string) === queue;
        return this.#of(queue).extendLocks(ids.filter(isThere), tokens.filter(isThere), duration);
      }),
    );
    return refused.flat();
  }

  /** Idle queues cost one command together. */
  override async moveStalledJobsToWait(): Promise<string[]> {
    const { names } = this.#queues;
    const active = names.map((name) => this.#of(name).toKey('active'));
    if (names.length > 1 && (await this.#redis.exists(active)) === 0) return [];
    const stalled = await Promise.all(names.map((name) => this.#of(name).moveStalledJobsToWait()));
    return stalled.flat();
  }

  override async waitForJob(seconds: number): Woken {
    // A delayed job of a queue that was added may be due before this wait ends.
    if (!this.#turns.isCurrent) return { member: '0', score: 0 };
    this.#isWaiting = true;
    try {
      return await super.waitForJob(seconds);
    } finally {
      this.#isWaiting = false;
    }
  }

  /** Does `act` on the queue in which the job is, by BullMQ's own scripts. */
  async onQueueOf<T>(id: string, act: (backend: RedisQueueBackend) => Promise<T>): Promise<T> {
    return act(await this.#backendOf(id));
  }

  /** The same, and the worker has the job no longer, even after a refusal. If the call is repeated, the job is looked for. */
  async end<T>(id: string, act: (backend: RedisQueueBackend) => Promise<T>): Promise<T> {
    try {
      return await this.onQueueOf(id, act);
    } finally {
      this.#queues.end(id);
    }
  }

  async #complete([job, returned, removal, token, takesNext]: Completion): Completed {
    const complete = (backend: RedisQueueBackend) => backend.moveToCompleted(job, returned, removal, token, false);
    return this.#thenTake(await this.end(job.id ?? '', complete), takesNext ? token : null);
  }

  /** The job has ended, whether the slot gets another one or not. Without one, the worker fetches again, and reports why. */
  async #thenTake(done: Awaited<Completed>, token: string | null): Completed {
    if (token === null || this.closing !== undefined) return done;
    const result = await this.moveToActive(token).catch(() => undefined);
    return { ...done, result };
  }

  async #take(token: string, takes: 'any' | 'plain'): Promise<Taken> {
    return this.#taken(await this.#turns.ask({ token, ended: null, takes }), token);
  }

  async #taken({ job, ask, isPartial, dueAt }: TurnReply, token: string): Promise<Taken> {
    if (job?.isSecond) return this.#setAside(job, token);
    if (job) return job.taken;
    const taken = await this.#askAll(ask, token);
    if (!isPartial || taken[0]) return orDue(taken, dueAt);
    return orDue(await this.#take(token, 'plain'), nextDueOf(taken));
  }

  /** By BullMQ's own script, queue by queue until there is a job. */
  async #askAll(queues: readonly string[], token: string, name?: string): Promise<Taken> {
    let dueAt = 0;
    for (const queue of queues) {
      const taken: Taken = await this.#of(queue).moveToActive(token, name);
      const [job, id] = taken as [unknown, string];
      if (job && !this.#queues.take(id, queue)) return this.#setAside({ queue, id }, token);
      if (job) return taken;
      dueAt = earliest(dueAt, nextDueOf(taken));
    }
    return [null, 0, 0, dueAt];
  }

  /** Locks and cancellations go by the id of a job, so a worker never has two jobs of one id. */
  async #setAside({ queue, id }: { queue: string; id: string }, token: string): Promise<Taken> {
    await this.#of(queue).moveToDelayed(id, Date.now(), SECOND_MS, token, { skipAttempt: true });
    return this.moveToActive(token);
  }

  #of(queue: string): RedisQueueBackend {
    const backend = this.#backends.get(queue) ?? (this.forQueue(queue) as RedisQueueBackend);
    this.#backends.set(queue, backend);
    return backend;
  }

  /** A job that this worker doesn't have is looked for in all of its queues. */
  async #backendOf(id: string): Promise<RedisQueueBackend> {
    const { names } = this.#queues;
    if (this.#queues.has(id) || names.length === 1) return this.#of(this.#queues.queueOf(id));
    const exist = await Promise.all(names.map((name) => this.#redis.exists(this.#of(name).toKey(id))));
    return this.#of(names[Math.max(0, exist.indexOf(1))] as string);
  }

  /** BullMQ's wait for the marker of its queue becomes a wait for any marker, with all that BullMQ does if a wait never ends. */
  async #waitingClient(): Promise<BlockingClient> {
    const client = await (this.blockingConnection as NonNullable<typeof this.blockingConnection>).client;
    const bzpopmin = (_marker: string, seconds: number) => this.#pop(client, seconds);
    const get = (_client: BlockingClient, name: string | symbol) =>
      name === 'bzpopmin' ? bzpopmin : (Reflect.get(client, name, client) as unknown);
    return new Proxy(client, { get });
  }

  async #pop(client: BlockingClient, seconds: number): Promise<[key: string, member: string, score: string] | null> {
    const queues = new Map(this.#queues.names.map((name) => [this.#of(name).toKey('marker'), name]));
    const pop = client.bzpopmin.bind(client) as (...args: unknown[]) => ReturnType<BlockingClient['bzpopmin']>;
    const popped = await pop(...queues.keys(), this.#wakeKey, seconds);
    const queue = popped ? queues.get(popped[0]) : undefined;
    if (queue !== undefined) this.#turns.pop(queue);
    return popped;
  }

  /** For the sake of a wait that is under way: it has not heard of the queues that were added. */
  #wake(): void {
    if (!this.#isWaiting) return;
    const waking = this.#redis.multi().zadd(this.#wakeKey, 0, '0').pexpire(this.#wakeKey, WAKE_MS).exec();
    // The wait ends by itself.
    waking.catch(() => {});
  }
}

actOnQueues(WorkerBackend.prototype);

/** The slot has a job, or looks again when the first delayed job is due. */
function orDue(taken: Taken, otherAt: number): Taken {
  return taken[0] ? taken : [null, 0, 0, earliest(nextDueOf(taken), otherAt)];
}

/** A limited queue must not keep the jobs of others waiting, so the end of its limit is when a job is due. */
function nextDueOf([, , limitMs = 0, dueAt = 0]: Taken): number {
  return earliest((limitMs as number) > 0 ? Date.now() + (limitMs as number) : 0, dueAt as number);
}

/** 0 is never. */
function earliest(a: number, b: number): number {
  return a > 0 && b > 0 ? Math.min(a, b) : Math.max(a, b);
}
