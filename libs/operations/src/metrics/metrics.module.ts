import { Inject, Injectable, Module, Optional } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { leaseMetrics, type MetricsRegistry } from '@fencepost/lease/metrics';
import { CLOCK } from '@fencepost/lease/nest';
import { Registry } from 'prom-client';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import {
  CATALOG,
  LeaseFeed,
  RUN_QUEUE,
  SCHEDULER,
  type BullmqRunQueue,
  type SchedulerRunner,
} from '@fencepost/jobs/internal';
import { LEDGER, Telemetry } from '@fencepost/jobs';
import { POD_REGISTRY } from '../nest/tokens.js';
import { ObservingModule } from '../nest/observing.module.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import type { CronsTold } from './cron-labels.js';
import { cronMetrics, type CronMetrics } from './cron-metrics-of.js';
import { PodSources } from './nest-sources.js';

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
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(RUN_QUEUE) private readonly queue!: BullmqRunQueue;
  @Inject(POD_REGISTRY) private readonly pods!: PodRegistry;
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
    const { registry, telemetry, clock, ledger, catalog, queue, pods } = this;
    const scheduler = () => (this.runner ? this.runner.pod : undefined);
    const { holder: pod } = this.keeper;
    const sources = new PodSources({ ledger, catalog, queue, registry: pods, clock, pod, scheduler });
    const { crons } = this.options;
    this.#counting = cronMetrics({ registry, telemetry, clock, sources, ...(crons === undefined ? {} : { crons }) });
    this.#stopLeases = this.feed.listen(leaseMetrics({ registry }));
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
