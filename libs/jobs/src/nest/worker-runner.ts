import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper, type CancelTimer } from '@fencepost/lease/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import type { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { WorkerQueues } from '../queue/worker-queues.js';
import type { LongRuns } from '../running/long-runs.js';
import { RunProcessor } from '../running/run.processor.js';
import { reportQueueFailure, reportStoreFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import { checkTransactions, criticalOf, Executed } from './capabilities.js';
import { Declarer, type DeclarerOptions } from '../declaring/declarer.js';
import { SETTLE_MS } from '../declaring/standing.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import { codeDigest } from './application.js';
import { BootEnd } from './boot-end.js';
import type { CronDiscovery } from './cron-discovery.js';
import type { FoundCron } from './cron-explorer.js';
import type { CronListing } from './listed-cron.js';
import { PodReporting } from './pod-reporting.js';
import { PodRoles } from './pod-roles.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings } from './options.js';
import { PayloadReaders } from './enqueuing.module.js';
import type { Database } from './postgres-database.js';
import type { RunNotifications } from './run-notifications.js';
import { SignalDrain } from './signal-drain.js';
import {
  CATALOG,
  CRON_DISCOVERY,
  DATABASE,
  JOBS_SETTINGS,
  LEDGER,
  MEMBERSHIP,
  POD_REGISTRY,
  RANDOM,
  RUN_NOTIFICATIONS,
  RUN_QUEUE,
  TRACING,
  WORKER_REDIS,
} from './tokens.js';
import { FormatHeartbeat } from '../membership/format-heartbeat.js';
import type { Membership } from '../membership/membership.js';

/** Between two looks at who is live and what the catalog has: a change of either is known within this time. */
const DECLARE_AGAIN_MS = 5_000;

/** Starts and stops what a worker does: find the crons and jobs, declare them, take deliveries. */
@Injectable()
export class WorkerRunner implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(WORKER_REDIS) private readonly redis!: RedisClient;
  @Inject(LEASE_REDIS) private readonly ledgerRedis!: RedisClient;
  @Inject(DATABASE) private readonly database!: Database | null;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(MEMBERSHIP) private readonly membership!: Membership;
  @Inject(POD_REGISTRY) private readonly registry!: PodRegistry;
  @Inject(PodReporting) private readonly reporting!: PodReporting;
  @Inject(CRON_DISCOVERY) private readonly cronDiscovery!: CronDiscovery;
  @Inject(BootEnd) private readonly bootEnd!: BootEnd;
  @Inject(DiscoveryService) private readonly discovery!: DiscoveryService;
  @Inject(PayloadReaders) private readonly readers!: PayloadReaders;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RANDOM) private readonly random!: () => number;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(TRACING) private readonly tracing!: Tracing | null;
  @Inject(PodRoles) private readonly podRoles!: PodRoles;
  @Inject(RUN_NOTIFICATIONS) private readonly notifications!: RunNotifications;
  @Inject(SignalDrain) private readonly signal!: SignalDrain;
  @Inject(RUN_QUEUE) private readonly queue!: BullmqRunQueue;

  #executed!: Executed;
  #longRuns: LongRuns | null = null;
  #processor: RunProcessor | null = null;
  #formatHeartbeat: FormatHeartbeat | null = null;
  #declarer: Declarer | null = null;
  #cancelDeclare: CancelTimer = () => {};
  #listing: CronListing | null = null;
  #queues: WorkerQueues | null = null;
  #isTaking = false;
  #reroutedAt: number | null = null;

  /** All crons are checked before anything is declared or taken. */
  async onModuleInit(): Promise<void> {
    this.#executed = new Executed(this.settings);
    this.#adopt(this.cronDiscovery.explore());
    this.signal.add(() => this.beforeApplicationShutdown());
    await this.#list();
  }

  async onApplicationBootstrap(): Promise<void> {
    // A lazy module with the missing ones may be loaded in a hook that Nest calls later.
    if (this.cronDiscovery.isComplete) await this.#begin();
    else this.bootEnd.add(() => this.#begin());
  }

  async #begin(): Promise<void> {
    this.#adopt(this.cronDiscovery.exploreAll());
    const { crons } = this.#executed;
    if (crons.size === 0) this.telemetry.emit('worker.empty', { app: this.settings.app });
    await this.#announce();
    await retryOnBoot(() => this.#classify(crons));
    const declarer = (this.#declarer = await retryOnBoot(() => this.#enrol()));
    const code = await codeDigest();
    await this.notifications.start();
    const processor = (this.#processor = this.#assemble());
    this.notifications.onChange = () => processor.plan();
    const { concurrency } = this.settings;
    // Reported before it takes anything: from then on no run is enqueued where a worker without its handler could take it.
    await this.podRoles.begin(() => ({
      ...this.#executed.capabilities,
      critical: criticalOf(this.#executed.crons),
      concurrency,
      running: processor.running,
      longRuns: this.#longRuns?.found ?? [],
      // Its definitions count from when this pod can execute them, and is known to be live.
      ...(this.#isTaking && this.#declarer && { revision: this.#declarer.revision }),
      ...(code !== null && { code }),
    }));
    await processor.start();
    this.#isTaking = true;
    await this.reporting.reporter.reportNow();
    this.#reroute();
    await retryOnBoot(() => declarer.declare());
    await this.#followOwners();
    this.#armDeclare();
    this.cronDiscovery.watch((found) => this.#adoptLater(found));
  }

  #adopt(found: ReadonlyMap<string, FoundCron>): void {
    checkTransactions(found.values(), this.settings);
    this.#executed.crons = found;
    this.readers.know(found);
    this.#listing?.add(found.values());
  }

  /** While the worker is running: what it declares is another set, which counts once its pod has reported it. */
  async #adoptLater(found: ReadonlyMap<string, FoundCron>): Promise<void> {
    await this.#classify(found);
    this.#adopt(found);
    this.#declarer = await this.#enrol();
    await this.#execute();
    this.#declareAgain();
    this.#cancelDeclare();
    this.#armDeclare();
  }

  /** What it executes has changed: by what is reported here, its runs get their queues. */
  async #execute(): Promise<void> {
    this.#queues?.set(this.#executed.queues);
    this.#processor?.plan();
    await this.reporting.reporter.reportNow();
    this.#reroute();
  }

  /** A name may come to belong to another app, or to this one, while the worker is running. */
  async #followOwners(): Promise<void> {
    const names = this.#declarer?.foreign.names;
    if (names === undefined || names === this.#executed.foreign) return;
    this.#executed.foreign = names;
    await this.#execute();
  }

  onModuleDestroy(): void {
    this.#listing?.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const processor = this.#processor;
    this.#processor = null;
    this.#cancelDeclare();
    this.cronDiscovery.stop();
    await processor?.stop(this.settings.drainDeadlineMs);
    await this.#formatHeartbeat?.stop();
    this.database?.enforceDeadline();
  }

  /** Without `@nestjs/schedule` nothing of it is loaded. */
  async #list(): Promise<void> {
    const { discovery, clock, telemetry } = this;
    if (!discovery.getProviders().some(({ name }) => name === 'SchedulerRegistry')) return;
    const { CronListing } = await import('./listed-cron.js');
    this.#listing = CronListing.in({ discovery, clock, telemetry });
    this.#listing?.add(this.#executed.crons.values());
  }

  /** Never rejects: another worker moves what a stopped one has left, at the next change, or a sweep delivers it again. */
  #reroute(): void {
    const { change } = this.reporting.reporter;
    const names = this.#queues?.names ?? [];
    const moved = this.queue.queues.note(names).then(() => this.queue.rerouting.reroute());
    moved.then(
      () => void (this.#reroutedAt = change),
      (error: unknown) => {
        if (this.#processor) reportQueueFailure(this.telemetry, { operation: 'queue.reroute' }, error);
      },
    );
  }

  #assemble(): RunProcessor {
    const { redis, ledger, clock, telemetry, random, settings, tracing } = this;
    const { prefix, tenant, concurrency, runLeaseMs: ttlMs } = settings;
    const queues = (this.#queues = new WorkerQueues(this.#executed.queues));
    const ports = { ledger, clock, telemetry, random, tracing };
    const [worker, { notifyOf }, { rerouting }] = [this.keeper.holder, this.notifications, this.queue];
    const load = () => import('../running/long-runs.js');
    const longRuns = () => load().then(({ LongRuns: Made }) => (this.#longRuns ??= new Made({ ...ports, worker })));
    const handlerOf = (name: string) => this.#executed.find(name);
    const attempts = { ...ports, worker, ttlMs, longRuns, notifyOf, handlerOf };
    const options = { redis, prefix, tenant, concurrency, clock, telemetry, attempts, rerouting };
    return new RunProcessor({ ...options, queues, handlers: () => this.#executed.capabilities.handlers });
  }

  /**
   * Before anything is declared: a job that may not run here must not look like one that does. What asks the stores is imported
   * where a handler wants it.
   */
  async #classify(crons: ReadonlyMap<string, FoundCron>): Promise<void> {
    if (criticalOf(crons).length === 0) return;
    const [{ checkClassification }, { probeRedis }, { readPostgresSettings }] = await Promise.all([
      import('./classification.js'),
      import('@fencepost/lease/internal/redis-checks'),
      import('@fencepost/ledger/durability'),
    ]);
    const { ledgerRedis, database, clock, settings, telemetry } = this;
    return checkClassification({
      handlers: crons.values(),
      settings,
      telemetry,
      probes: {
        redis: (demands) => probeRedis(ledgerRedis, { clock, ...demands }),
        postgres: async () => (database ? readPostgresSettings(database.pool) : {}),
      },
    });
  }

  #announce(): Promise<void> {
    const { membership, clock, telemetry, keeper } = this;
    const about = {
      process: keeper.holder,
      onRisen: () => this.#onFormatRisen(),
      onAlone: (isAlone: boolean) => this.#processor?.waitLong(isAlone),
    };
    const heartbeat = (this.#formatHeartbeat = new FormatHeartbeat({ ...about, membership, clock, telemetry }));
    return retryOnBoot(() => heartbeat.start());
  }

  async #enrol(): Promise<Declarer> {
    const { catalog, membership, registry, clock, telemetry, random, settings } = this;
    const { app, revision: explicit, removeAfterMs } = settings;
    const options: DeclarerOptions = {
      pod: this.keeper.holder,
      app,
      explicit,
      declarations: new Map([...this.#executed.crons].map(([name, { declaration }]) => [name, declaration])),
      timing: { settleMs: Math.min(SETTLE_MS, removeAfterMs), removeAfterMs },
      change: () => this.reporting.reporter.change,
      lowest: () => this.#formatHeartbeat?.lowest ?? 0,
      catalogVersion: () => this.#formatHeartbeat?.catalogVersion ?? null,
    };
    const declarer = await Declarer.enrol({ catalog, membership, registry, clock, telemetry, random }, options);
    this.#executed.foreign = declarer.foreign.names;
    return declarer;
  }

  #armDeclare(): void {
    this.#cancelDeclare = this.clock.after(DECLARE_AGAIN_MS, () => {
      this.#declareAgain();
      this.#armDeclare();
    });
  }

  /** What was held back for an older process may be written now. */
  #onFormatRisen(): void {
    this.#declarer?.forget();
    this.#declareAgain();
  }

  #declareAgain(): void {
    if (this.reporting.reporter.change !== this.#reroutedAt) this.#reroute();
    const repeated = this.#declarer?.repeat().then(() => this.#followOwners());
    repeated?.catch((error: unknown) => {
      reportStoreFailure(this.telemetry, { operation: 'catalog.declare' }, error);
    });
  }
}
