import { createHash } from 'node:crypto';

/** The only queue of former releases. Every worker takes from it, so that none of its runs is lost in an upgrade. */
export const FORMER_QUEUE = 'runs';

/** Runs whose handler no live worker has. No worker takes from it; the worker that brings the handler empties it. */
export const UNROUTED_QUEUE = 'no-worker';

/** Webhook messages and pings, under the same prefix. */
export const ALARM_QUEUE_NAME = 'alarms';

/** Queues that an app of the same name must not share. */
const RESERVED: ReadonlySet<string> = new Set([FORMER_QUEUE, UNROUTED_QUEUE, ALARM_QUEUE_NAME]);

export const DEFAULT_POOL = 'default';

/** What decides the queues of a worker. */
export interface WorkerCapabilities {
  readonly app: string;
  /** The crons and jobs that it executes. */
  readonly handlers: readonly string[];
  /** The pools it belongs to; absent for a worker of a former release, which knows {@link FORMER_QUEUE} only. */
  readonly pools?: readonly string[];
  /** The pool of each handler that is not in the default pool. */
  readonly pooled?: Readonly<Record<string, string>>;
}

/** A live worker as routing sees it. */
export interface RoutedWorker extends WorkerCapabilities {
  readonly revision: number | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** Live workers with the same capabilities. */
interface WorkerGroup {
  readonly app: string;
  readonly queues: readonly string[];
  /** A queue that only this group takes from. */
  readonly own: string;
  /** The shared queue of each handler. */
  readonly queueOf: ReadonlyMap<string, string>;
  readonly revision: number;
  readonly startedAt: number;
}

/** The queue of an app's runs, or of those of a pool. BullMQ allows no colon, and a slash would be one in the board's addresses. */
function sharedQueue(app: string, pool: string): string {
  const plain = app.replaceAll('/', '~');
  const name = RESERVED.has(plain) ? `${plain}.app` : plain;
  return pool === DEFAULT_POOL ? name : `${name}.${pool}`;
}

/** All queues of a worker; the first is its main one. One without handlers has a queue that nothing is ever routed to. */
export function queuesOfWorker(worker: WorkerCapabilities): string[] {
  const { app, pools, handlers } = worker;
  if (!pools) return [FORMER_QUEUE];
  if (handlers.length === 0) return [ownQueue(worker)];
  return [...new Set([...pools.map((pool) => sharedQueue(app, pool)), ownQueue(worker), FORMER_QUEUE])];
}

function ownQueue({ app, pools = [], handlers, pooled = {} }: WorkerCapabilities): string {
  const content = [app, pools.toSorted(), handlers.toSorted().map((name) => [name, pooled[name] ?? null])];
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const [pool = DEFAULT_POOL] = pools.includes(DEFAULT_POOL) ? [] : pools.toSorted();
  return `${sharedQueue(app, pool)}.only-${digest.slice(0, 8)}`;
}

const OWN = /\.only-[0-9a-f]{8}$/;

/** Whether a queue is that of a group of equal workers, see {@link Routing}. */
export function isOwnQueue(name: string): boolean {
  return OWN.test(name);
}

/** The queue of the app, or of the pool, to which a group of equal workers belongs; `null` for any other queue. */
export function queueOfGroup(name: string): string | null {
  return isOwnQueue(name) ? name.replace(OWN, '') : null;
}

/**
 * Which queue a run belongs to, given the live workers: a run is only ever offered to workers that have its handler.
 *
 * As long as all workers of a queue have the handler, that is the queue of their app or pool. While they differ, as during a
 * rolling deploy, it is the own queue of a group of equal workers that has it, the newest revision first.
 */
export class Routing {
  readonly #groups: readonly WorkerGroup[];
  readonly #routes = new Map<string, string | null>();
  /** The queues that a live worker takes from. */
  readonly queues: ReadonlySet<string>;

  constructor(workers: readonly RoutedWorker[]) {
    const groups = new Map<string, WorkerGroup>();
    for (const worker of workers) {
      const [key, group] = [`${ownQueue(worker)} ${worker.pools ? '' : 'former'}`, groupOf(worker)];
      const known = groups.get(key);
      if (!known || isNewer(group, known)) groups.set(key, group);
    }
    this.#groups = [...groups.values()].toSorted((a, b) => (isNewer(a, b) ? -1 : 1));
    this.queues = new Set(this.#groups.flatMap(({ queues }) => queues));
  }

  /** Whether any worker is live. */
  get hasWorkers(): boolean {
    return this.#groups.length > 0;
  }

  /** The apps with a live worker that has this handler, the newest worker's first. */
  appsWith(handler: string): string[] {
    return [...new Set(this.#groups.flatMap(({ app, queueOf }) => (queueOf.has(handler) ? [app] : [])))];
  }

  /**
   * @param app of which the worker must be, where several apps have the handler
   * @returns `null` when no live worker has the handler
   */
  queueFor(handler: string, app: string | null): string | null {
    const key = `${handler}\n${app ?? ''}`;
    const known = this.#routes.get(key);
    if (known !== undefined) return known;
    const queue = this.#find(handler, app);
    this.#routes.set(key, queue);
    return queue;
  }

  /** Whether all workers that take from a queue have the handler. */
  #suits(queue: string, handler: string): boolean {
    const takers = this.#groups.filter(({ queues }) => queues.includes(queue));
    return takers.length > 0 && takers.every(({ queueOf }) => queueOf.has(handler));
  }

  #find(handler: string, app: string | null): string | null {
    const able = this.#groups.filter((group) => group.queueOf.has(handler) && (app === null || group.app === app));
    const [newest] = able;
    if (!newest) return null;
    // Workers of a former release know no other queue; while one is live it takes its share.
    if (able.some(({ own }) => own === FORMER_QUEUE)) return FORMER_QUEUE;
    const shared = newest.queueOf.get(handler) ?? newest.own;
    return this.#suits(shared, handler) ? shared : newest.own;
  }
}

function groupOf(worker: RoutedWorker): WorkerGroup {
  const { app, handlers, pools, pooled = {}, revision, startedAt } = worker;
  const shared = (name: string) => (pools ? sharedQueue(app, pooled[name] ?? DEFAULT_POOL) : FORMER_QUEUE);
  return {
    app,
    queues: queuesOfWorker(worker),
    own: pools ? ownQueue(worker) : FORMER_QUEUE,
    queueOf: new Map(handlers.map((name) => [name, shared(name)])),
    revision: revision ?? 0,
    startedAt,
  };
}

function isNewer(a: WorkerGroup, b: WorkerGroup): boolean {
  return a.revision === b.revision ? a.startedAt > b.startedAt : a.revision > b.revision;
}
