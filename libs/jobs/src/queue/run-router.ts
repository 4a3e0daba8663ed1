import type { Clock } from '@fencepost/lease';
import type { Catalog } from '@fencepost/ledger/catalog';
import { cronOfRun } from '@fencepost/ledger/run';
import { POD_GONE_MS, type PodCard, type PodRegistry } from '../pods/pod-registry.js';
import { FORMER_QUEUE, Routing, UNROUTED_QUEUE, type RoutedWorker } from './routing.js';

/** What the catalog says of a cron, as far as it decides where its runs go. */
export interface RoutedCron {
  /** The app that declares it; `null` for one that was made at run time. */
  readonly app: string | null;
  readonly handler: string;
}

/** By the name of the cron. Asked about a cron that no worker has by its name, or that several apps have. */
export type CronsOf = (crons: readonly string[]) => Promise<ReadonlyMap<string, RoutedCron>>;

/** Where runs belong now. */
export interface Targets {
  /** The queue of each run, in the order given. */
  readonly queues: readonly string[];
  /** The queues that live workers take from; `null` while no worker is live, and every run waits where it is. */
  readonly taken: ReadonlySet<string> | null;
}

export interface RunRouterDeps {
  readonly registry: Pick<PodRegistry, 'look' | 'change'>;
  readonly clock: Clock;
  readonly cronsOf?: CronsOf;
}

/** Says to which queue a run belongs, by the workers that are live. */
export class RunRouter {
  #reading: Reading | null = null;

  constructor(private readonly deps: RunRouterDeps) {}

  /** @throws what the stores throw */
  async targets(runIds: readonly string[]): Promise<Targets> {
    const { cronsOf = async () => new Map() } = this.deps;
    const routing = await this.#routing();
    // Whichever worker comes first takes from this queue, and passes on what it can't execute.
    if (!routing.hasWorkers) return { queues: runIds.map(() => FORMER_QUEUE), taken: null };
    const crons = [...new Set(runIds.map((runId) => cronOfRun(runId)))];
    const unclear = crons.filter((cron) => routing.appsWith(cron).length !== 1);
    const known: Awaited<ReturnType<CronsOf>> = unclear.length === 0 ? new Map() : await cronsOf(unclear);
    const byCron = new Map(crons.map((cron) => [cron, targetOf(routing, cron, known.get(cron))]));
    return { queues: runIds.map((runId) => byCron.get(cronOfRun(runId)) ?? UNROUTED_QUEUE), taken: routing.queues };
  }

  /**
   * The routing by the pods that are live now. Asks the registry for its number of changes each time, and reads the pods only when
   * that has moved: a worker that joins or leaves counts from the next run on.
   */
  async #routing(): Promise<Routing> {
    const { registry, clock } = this.deps;
    const readAt = clock.monotonic();
    const change = await registry.change();
    const known = this.#reading;
    // The last pod of all may die without one that reports the change.
    if (known?.change === change && readAt - known.readAt < POD_GONE_MS) return known.routing;
    const { pods } = await registry.look();
    const routing = new Routing(pods.flatMap(routedWorker));
    this.#reading = { change, readAt, routing };
    return routing;
  }
}

interface Reading {
  readonly change: number;
  /** Monotonic. */
  readonly readAt: number;
  readonly routing: Routing;
}

function routedWorker({ roles, app, handlers, pools, pooled, revision, startedAt }: PodCard): RoutedWorker[] {
  if (!roles.includes('worker')) return [];
  return [{ app, handlers, revision, startedAt, ...(pools && { pools }), ...(pooled && { pooled }) }];
}

function targetOf(routing: Routing, cron: string, known?: RoutedCron): string | null {
  const handler = known?.handler ?? cron;
  const app = routing.appsWith(handler).length > 1 ? (known?.app ?? null) : null;
  return routing.queueFor(handler, app);
}

export function cronsIn(catalog: Pick<Catalog, 'read'>): CronsOf {
  return async (crons) => {
    const { entries } = await catalog.read(crons);
    const routed = entries.map(({ definition: { name, handler = name }, app }) => [name, { app, handler }] as const);
    return new Map(routed);
  };
}
