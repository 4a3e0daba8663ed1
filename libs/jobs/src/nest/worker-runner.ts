import { Inject, Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper, type CancelTimer } from '@fencepost/lease/internal';
import { probeRedis } from '@fencepost/lease/internal/redis-checks';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { readPostgresSettings } from '@fencepost/ledger/durability';
import { RunProcessor } from '../running/run.processor.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import { checkClassification } from './classification.js';
import { CronExplorer, type FoundCron } from './cron-explorer.js';
import { DeclarationReport } from './declaration-report.js';
import { PodRoles } from './pod-roles.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings } from './options.js';
import { PayloadReaders } from './payload-readers.js';
import type { Database } from './postgres-database.js';
import { RunNotifications } from './run-notifications.js';
import { SignalDrain } from './signal-drain.js';
import { CATALOG, DATABASE, JOBS_SETTINGS, LEDGER, RANDOM, TRACING, WORKER_REDIS } from './tokens.js';

/** A catalog that was lost with its store comes back within this time. */
const DECLARE_AGAIN_MS = 10_000;

/** Starts and stops what a worker does: find the crons and jobs, declare them, take deliveries. */
@Injectable()
export class WorkerRunner implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(WORKER_REDIS) private readonly redis!: RedisClient;
  @Inject(LEASE_REDIS) private readonly ledgerRedis!: RedisClient;
  @Inject(DATABASE) private readonly database!: Database | null;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(CronExplorer) private readonly explorer!: CronExplorer;
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
  #news: DeclarationReport | null = null;
  #cancelDeclare: CancelTimer = () => {};

  /** All crons are checked before anything is declared or taken. */
  onModuleInit(): void {
    this.#crons = this.explorer.explore();
    this.readers.know(this.#crons);
    this.signal.add(() => this.beforeApplicationShutdown());
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.#crons.size === 0) this.telemetry.emit('worker.empty', { app: this.settings.app });
    await retryOnBoot(() => this.#classify());
    await retryOnBoot(() => this.#declare());
    this.#armDeclare();
    await this.notifications.start();
    const processor = this.#assemble();
    this.#processor = processor;
    await processor.start();
    const [handlers, { concurrency }] = [[...this.#crons.keys()], this.settings];
    const critical = handlers.filter((name) => this.#crons.get(name)?.criticality === 'correctness');
    this.podRoles.begin(() => ({ handlers, critical, concurrency, running: processor.running }));
  }

  async beforeApplicationShutdown(): Promise<void> {
    const processor = this.#processor;
    this.#processor = null;
    this.#cancelDeclare();
    await processor?.stop(this.settings.drainDeadlineMs);
    this.database?.enforceDeadline();
  }

  #assemble(): RunProcessor {
    const { redis, ledger, clock, telemetry, random, settings, tracing } = this;
    const { prefix, tenant, concurrency, runLeaseMs: ttlMs } = settings;
    const handlerOf = (cron: string) => this.#crons.get(cron);
    const { notifyOf } = this.notifications;
    const attempts = {
      ledger,
      clock,
      telemetry,
      random,
      worker: this.keeper.holder,
      ttlMs,
      handlerOf,
      tracing,
      notifyOf,
    };
    return new RunProcessor({ redis, prefix, tenant, concurrency, clock, telemetry, attempts });
  }

  /** Before anything is declared: a job that may not run here must not look like one that does. */
  #classify(): Promise<void> {
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

  async #declare(): Promise<void> {
    const { buildSeq: seq, app: source } = this.settings;
    const declarations = [...this.#crons.values()].map(({ declaration }) => declaration);
    // A program that has no crons is not the one that had some: it may only want to trigger those of another.
    if (declarations.length === 0) return;
    this.#news ??= new DeclarationReport(this.telemetry, { seq, source });
    this.#news.tell(await this.catalog.declare(declarations, { seq, source }), declarations.length);
  }

  #armDeclare(): void {
    this.#cancelDeclare = this.clock.after(DECLARE_AGAIN_MS, () => {
      this.#declare().catch((error: unknown) =>
        reportStoreFailure(this.telemetry, { operation: 'catalog.declare' }, error),
      );
      this.#armDeclare();
    });
  }
}
