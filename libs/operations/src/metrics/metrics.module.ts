import { Inject, Injectable, Module, Optional } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { leaseMetrics, type MetricsRegistry } from '@fencepost/lease/metrics';
import { CLOCK } from '@fencepost/lease/nest';
import { Registry, type Metric, type MetricObject, type MetricValue } from 'prom-client';
import { readChanges, type Catalog, type CatalogEntry } from '@fencepost/ledger/catalog';
import type { OccurrenceLog, RunHistory } from '@fencepost/ledger';
import {
  CATALOG,
  JOBS_SETTINGS,
  LeaseFeed,
  POD_REGISTRY,
  READ_STORES,
  ROLES,
  RUN_QUEUE,
  SCHEDULER,
  type BullmqRunQueue,
  type JobsSettings,
  type PodRegistry,
  type ReadStores,
  type SchedulerRunner,
} from '@fencepost/jobs/internal';
import { Telemetry, type Role } from '@fencepost/jobs';
import { ObservingModule } from '../nest/observing.module.js';
import type { CronsTold } from './cron-labels.js';
import { cronMetrics, type CronMetrics } from './cron-metrics-of.js';
import type { SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import { CRON_METRICS } from './cron-metrics.js';
import type { MetricSources } from './sources.js';

export interface MetricsOptions {
  /** Of this JobsModule alone; default: one of its own. */
  readonly registry?: MetricsRegistry;
  /**
   * How many crons have series of their own, the most important ones: `'all'`, `'none'` or a number; default 200. The rest is
   * counted as `other`.
   */
  readonly crons?: CronsTold;
}

const OPTIONS = Symbol('METRICS_OPTIONS');

/** Counts for Prometheus what a `JobsModule` does; `registry.metrics()` is the page. */
@Injectable()
export class JobsMetrics implements OnModuleInit, OnApplicationShutdown {
  @Inject(READ_STORES) private readonly reads!: ReadStores;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(RUN_QUEUE) private readonly queue!: BullmqRunQueue;
  @Inject(POD_REGISTRY) private readonly pods!: PodRegistry;
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(ROLES) private readonly roles!: readonly Role[];
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(LeaseFeed) private readonly feed!: LeaseFeed;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(CLOCK) private readonly clock!: Clock;
  /** `null` in a process that is no scheduler. */
  @Optional() @Inject(SCHEDULER) private readonly runner: SchedulerRunner | null = null;
  @Inject(OPTIONS) private readonly options!: MetricsOptions;

  #registry: MetricsRegistry | undefined;
  #counting: CronMetrics | undefined;
  #stopLeases = () => {};

  get registry(): MetricsRegistry {
    return (this.#registry ??= this.options.registry ?? new Registry());
  }

  /** Before the roles start, so that nothing they do goes uncounted. */
  async onModuleInit(): Promise<void> {
    const { telemetry, clock, catalog, queue, pods, settings } = this;
    const registry = ofDeployment(this.registry, `${settings.prefix}:${settings.tenant}`);
    const { ledger } = this.reads;
    const scheduler = () => (this.runner ? this.runner.pod : undefined);
    const { holder: pod } = this.keeper;
    const app = this.roles.includes('worker') ? this.settings.app : null;
    const sources = new PodSources({ ledger, catalog, queue, registry: pods, pod, app, scheduler });
    const { crons } = this.options;
    this.#counting = cronMetrics({ registry, telemetry, clock, sources, ...(crons === undefined ? {} : { crons }) });
    this.#stopLeases = this.feed.listen(leaseMetrics({ registry, heldForEver: ['cron', 'role'] }));
    await this.#counting.begin();
  }

  /** Not before the drain is over: what a pod does last counts too. */
  onApplicationShutdown(): void {
    this.#counting?.stop();
    this.#stopLeases();
  }
}

/** `imports: [jobs, MetricsModule.on(jobs)]` beside a `JobsModule`; {@link JobsMetrics} has the registry to show. */
@Module({})
export class MetricsModule {
  /** @param jobs what `JobsModule.forRoot` returned: the same object that the application imports */
  static on(jobs: DynamicModule, options: MetricsOptions = {}): DynamicModule {
    const providers = [JobsMetrics, { provide: OPTIONS, useValue: options }];
    return { module: MetricsModule, imports: [jobs, ObservingModule.on(jobs)], providers, exports: [JobsMetrics] };
  }
}

interface PodPorts {
  readonly ledger: OccurrenceLog & RunHistory;
  readonly catalog: Pick<Catalog, 'read' | 'since'>;
  readonly queue: BullmqRunQueue;
  readonly registry: Pick<PodRegistry, 'list'>;
  readonly pod: string;
  readonly app: string | null;
  /** `undefined` in a process that is no scheduler, `null` in one that is and has not started. */
  readonly scheduler: () => SchedulerPod | null | undefined;
}

/** What a pod of `JobsModule` has to show. */
class PodSources implements MetricSources {
  readonly ledger: OccurrenceLog & RunHistory;
  readonly pod: string;
  readonly app: string | null;
  /** Of a pod that knows the catalog only from here. A scheduler has it, and lists it anew after a change. */
  #known: ReadonlyMap<string, CatalogEntry> = new Map();
  #entries: readonly CatalogEntry[] | null = null;
  #version: number | null = null;

  constructor(private readonly ports: PodPorts) {
    this.ledger = ports.ledger;
    this.pod = ports.pod;
    this.app = ports.app;
  }

  async catalog(): Promise<readonly CatalogEntry[]> {
    const scheduler = this.ports.scheduler();
    if (!scheduler) return this.#followed();
    const { version } = scheduler.catalogCache;
    if (this.#entries && version === this.#version) return this.#entries;
    const entries = [...scheduler.catalogCache.entries()].map(({ entry }) => entry);
    // One without any has not been read yet, or stands at its beginning.
    if (entries.length > 0) [this.#entries, this.#version] = [entries, version];
    return entries;
  }

  /** What has changed is read, and the rest is known. */
  async #followed(): Promise<readonly CatalogEntry[]> {
    const { version, whole, entries, gone } = await readChanges(this.ports.catalog, this.#version);
    if (this.#entries && version === this.#version) return this.#entries;
    const known = new Map([...(whole ? [] : this.#known), ...entries]);
    for (const name of gone) known.delete(name);
    [this.#known, this.#entries, this.#version] = [known, [...known.values()], version];
    return this.#entries;
  }

  held() {
    const scheduler = this.ports.scheduler();
    if (scheduler === undefined) return null;
    return scheduler ? scheduler.engine.heldNames().flatMap((name) => scheduler.engine.held(name) ?? []) : [];
  }

  behind() {
    return this.ports.scheduler()?.engine.behind() ?? null;
  }

  leasesDownMs() {
    return this.ports.scheduler()?.standstills.leasesDownMs ?? null;
  }

  /** As it has reported it: the roles of a process know of each other by its card alone. */
  async standstills() {
    const own = (await this.ports.registry.list()).find(({ pod }) => pod === this.pod);
    return [...(own?.standstills ?? []), ...(own?.longRuns ?? [])];
  }

  queueJobs(): Promise<Readonly<Record<string, number>>> {
    return this.ports.queue.queues.counts(...CRON_METRICS.queueJobs.labels.state);
  }

  pods() {
    return this.ports.registry.list();
  }
}

interface Read {
  readonly values: readonly MetricValue<string>[];
}

type Reader = () => Promise<MetricObject & Read>;

/**
 * The same registry, in which each metric that is registered from now on has the label `deployment`. Others in it stay as they are:
 * it may be that of an application.
 */
function ofDeployment<Of extends MetricsRegistry>(registry: Of, deployment: string): Of {
  const registerMetric = (metric: Metric) => registry.registerMetric(labelled(metric, { deployment }));
  return Object.create(registry, { registerMetric: { value: registerMetric } }) as Of;
}

/** With further labels whenever it is read: for the program that counts, it has none of them. */
function labelled(metric: Metric, labels: Readonly<Record<string, string>>): Metric {
  for (const name of ['get', 'getForPromString']) {
    const read: unknown = Reflect.get(metric, name);
    if (typeof read !== 'function') continue;
    const reader = read.bind(metric) as Reader;
    Reflect.set(metric, name, async () => {
      const found = await reader();
      return { ...found, values: found.values.map((one) => ({ ...one, labels: { ...labels, ...one.labels } })) };
    });
  }
  return metric;
}
