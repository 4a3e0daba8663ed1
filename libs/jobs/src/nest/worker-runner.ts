import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper, type CancelTimer } from '@fencepost/lease/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { RunProcessor } from '../running/run.processor.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import { CronDeclarationError } from './cron-declaration.js';
import { CronExplorer, type FoundCron } from './cron-explorer.js';
import { Declarer } from './declarer.js';
import { PodRoles } from './pod-roles.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings } from './options.js';
import { PayloadReaders } from './enqueuing.module.js';
import type { Database } from './postgres-database.js';
import { SignalDrain } from './signal-drain.js';
import {
  ALARM_QUEUE,
  CATALOG,
  DATABASE,
  JOBS_SETTINGS,
  LEDGER,
  MEMBERSHIP,
  RANDOM,
  TRACING,
  WORKER_REDIS,
} from './tokens.js';
import { FormatHeartbeat } from '../membership/format-heartbeat.js';
import type { Membership } from '../membership/membership.js';
import type { BullmqAlarmQueue } from '../notifying/bullmq-alarm-queue.js';
import { PingCache, notifyOf, RunNotifier } from '../notifying/run-notifier.js';

/** In a worker: says of which ends its runs ask to be notified, and hands the notifications on as they come. */
@Injectable()
export class RunNotifications implements OnApplicationShutdown {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(ALARM_QUEUE) private readonly queue!: BullmqAlarmQueue;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #pings: PingCache | null = null;
  #notifier: RunNotifier | null = null;

  readonly notifyOf = (cron: string): string =>
    notifyOf(this.settings.webhooks, cron, this.#pings === null ? null : this.#pings.of(cron));

  /** To be called before the first run begins. */
  async start(): Promise<void> {
    const { catalog, ledger, clock, telemetry, queue } = this;
    this.#notifier = new RunNotifier({ ledger, queue, telemetry, webhooks: this.settings.webhooks });
    this.#notifier.start(this.notifyOf);
    this.#pings = new PingCache({ catalog, clock, telemetry });
    await this.#pings.start();
  }

  /** After the last run has ended. */
  async onApplicationShutdown(): Promise<void> {
    await this.#pings?.stop();
    await this.#notifier?.stop();
  }
}

/** @throws {CronDeclarationError} for the first handler with transactions, where the ledger has none */
function checkTransactions(crons: Iterable<FoundCron>, { ledger }: Pick<JobsSettings, 'ledger'>): void {
  if (ledger === 'postgres') return;
  for (const { where, transactions } of crons) {
    if (!transactions) continue;
    throw new CronDeclarationError(
      where,
      `option "transactions": expected ledger: "postgres" in JobsModule beside it, got ${JSON.stringify(ledger)}. ` +
        `Keep the ledger in the database of your rows, or use run.effect and its idempotency key instead.`,
    );
  }
}

/** In one event. */
const MAX_NAMED = 20;

/** A catalog that was lost with its store comes back within this time. */
const DECLARE_AGAIN_MS = 10_000;

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
  @Inject(CronExplorer) private readonly explorer!: CronExplorer;
  @Inject(DiscoveryService) private readonly discovery!: DiscoveryService;
  @Inject(PayloadReaders) private readonly readers!: PayloadReaders;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RANDOM) private readonly random!: () => number;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(TRACING) private readonly tracing!: Tracing | null;
  @Inject(PodRoles) private readonly podRoles!: PodRoles;
  @Inject(RunNotifications) private readonly notifications!: RunNotifications;
  @Inject(SignalDrain) private readonly signal!: SignalDrain;

  #crons: ReadonlyMap<string, FoundCron> = new Map();
  #processor: RunProcessor | null = null;
  #formatHeartbeat: FormatHeartbeat | null = null;
  #declarer: Declarer | null = null;
  #cancelDeclare: CancelTimer = () => {};
  #unlist = () => {};

  /** All crons are checked before anything is declared or taken. */
  async onModuleInit(): Promise<void> {
    this.#crons = this.explorer.explore();
    checkTransactions(this.#crons.values(), this.settings);
    this.readers.know(this.#crons);
    this.signal.add(() => this.beforeApplicationShutdown());
    await this.#list();
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.#crons.size === 0) this.telemetry.emit('worker.empty', { app: this.settings.app });
    const classes = this.explorer.unprovided().slice(0, MAX_NAMED);
    if (classes.length > 0) this.telemetry.emit('worker.unprovided', { classes });
    await this.#announce();
    await retryOnBoot(() => this.#classify());
    await this.#declare();
    await this.notifications.start();
    const processor = this.#assemble();
    this.#processor = processor;
    await processor.start();
    const [handlers, { concurrency }] = [[...this.#crons.keys()], this.settings];
    const critical = this.#critical();
    this.podRoles.begin(() => ({ handlers, critical, concurrency, running: processor.running }));
  }

  onModuleDestroy(): void {
    this.#unlist();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const processor = this.#processor;
    this.#processor = null;
    this.#cancelDeclare();
    await processor?.stop(this.settings.drainDeadlineMs);
    await this.#formatHeartbeat?.stop();
    this.database?.enforceDeadline();
  }

  /** Without `@nestjs/schedule` nothing of it is loaded. */
  async #list(): Promise<void> {
    const { discovery, clock, telemetry } = this;
    if (!discovery.getProviders().some(({ name }) => name === 'SchedulerRegistry')) return;
    const { listCrons } = await import('./listed-cron.js');
    this.#unlist = listCrons(this.#crons.values(), { discovery, clock, telemetry });
  }

  #assemble(): RunProcessor {
    const { redis, ledger, clock, telemetry, random, settings, tracing } = this;
    const { prefix, tenant, concurrency, runLeaseMs: ttlMs } = settings;
    const handlerOf = (cron: string) => this.#crons.get(cron);
    const attempts = {
      ledger,
      clock,
      telemetry,
      random,
      worker: this.keeper.holder,
      ttlMs,
      handlerOf,
      tracing,
      notifyOf: this.notifications.notifyOf,
    };
    return new RunProcessor({ redis, prefix, tenant, concurrency, clock, telemetry, attempts });
  }

  /**
   * Before anything is declared: a job that may not run here must not look like one that does. What asks the stores is imported
   * where a handler wants it.
   */
  async #classify(): Promise<void> {
    if (this.#critical().length === 0) return;
    const [{ checkClassification }, { probeRedis }, { readPostgresSettings }] = await Promise.all([
      import('./classification.js'),
      import('@fencepost/lease/internal/redis-checks'),
      import('@fencepost/ledger/durability'),
    ]);
    const { ledgerRedis, database, clock, settings, telemetry } = this;
    return checkClassification({
      handlers: this.#crons.values(),
      settings,
      telemetry,
      probes: {
        redis: (demands) => probeRedis(ledgerRedis, { clock, ...demands }),
        postgres: async () => (database ? readPostgresSettings(database.pool) : {}),
      },
    });
  }

  /** The handlers to which a duplicate is damage. */
  #critical(): string[] {
    return [...this.#crons].flatMap(([name, { criticality }]) => (criticality === 'correctness' ? [name] : []));
  }

  #announce(): Promise<void> {
    const { membership, clock, telemetry, keeper } = this;
    const about = { process: keeper.holder, onRisen: () => this.#onFormatRisen() };
    const heartbeat = (this.#formatHeartbeat = new FormatHeartbeat({ ...about, membership, clock, telemetry }));
    return retryOnBoot(() => heartbeat.start());
  }

  async #declare(): Promise<void> {
    // A program that has no crons is not the one that had some: it may only want to trigger those of another.
    if (this.#crons.size === 0) return;
    const { catalog, membership, clock, telemetry } = this;
    const { buildSeq: seq, app: source } = this.settings;
    const declarations = new Map([...this.#crons].map(([name, { declaration }]) => [name, declaration]));
    const ports = { catalog, membership, clock, telemetry };
    const declarer = (this.#declarer = new Declarer(ports, declarations, { seq, source }));
    await retryOnBoot(() => declarer.declare());
    this.#armDeclare();
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
    const operation = 'catalog.declare';
    this.#declarer?.repeat().catch((error: unknown) => reportStoreFailure(this.telemetry, { operation }, error));
  }
}
