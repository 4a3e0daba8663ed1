import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { systemClock, type Clock, type Leases, type LeaseStore } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import type { Catalog, CronDefinition } from '@fencepost/ledger/catalog';
import type { Delivery, Ledger } from '@fencepost/ledger';
import type { AlarmQueue } from '../notifying/messages.js';
import { OrderLog } from '../notifying/order-log.js';
import { RunNotifier } from '../notifying/run-notifier.js';
import type { Membership } from '../membership/membership.js';
import { preciseTimer } from '../scheduling/precise-timer.js';
import { readQueueLimits, type QueueLimits } from '../queue/queue-limits.js';
import type { RunQueue } from '../queue/run-queue.js';
import { SchedulerPod } from '../scheduling/scheduler-pod.js';
import { LeaseFeed, Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import { placeOf } from './pod-reporting.js';
import { PodRoles, type RoleFacts } from './pod-roles.js';
import { retryOnBoot } from './retry-on-boot.js';
import type { JobsSettings, Role } from './options.js';
import type { Database } from './postgres-database.js';
import { SignalDrain } from './signal-drain.js';
import { openAuditTrail } from './stores.js';
import {
  ALARM_QUEUE,
  CATALOG,
  CRON_LEASE_STORE,
  CRON_LEASES,
  DATABASE,
  JOBS_SETTINGS,
  LEDGER,
  MEMBERSHIP,
  RANDOM,
  ROLES,
  RUN_QUEUE,
  TRACING,
} from './tokens.js';

/** Names of crons in one warning. */
const MAX_NAMED = 10;

/** A run that a sweep has put back gets this long to be begun before it is looked at again. */
const LOOK_AGAIN_MS = 10_000;

/** Starts the scheduler pod of this process, and stops it. */
@Injectable()
export class SchedulerRunner implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LEASE_REDIS) private readonly redis!: RedisClient;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(DATABASE) private readonly database!: Database | null;
  @Inject(ROLES) private readonly roles!: readonly Role[];
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(MEMBERSHIP) private readonly membership!: Membership;
  @Inject(RUN_QUEUE) private readonly queue!: RunQueue;
  @Inject(ALARM_QUEUE) private readonly messages!: AlarmQueue;
  @Inject(CRON_LEASE_STORE) private readonly leases!: LeaseStore;
  @Inject(CRON_LEASES) private readonly held!: Leases;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RANDOM) private readonly random!: () => number;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(LeaseFeed) private readonly feed!: LeaseFeed;
  @Inject(TRACING) private readonly tracing!: Tracing | null;
  @Inject(PodRoles) private readonly podRoles!: PodRoles;
  @Inject(SignalDrain) private readonly signal!: SignalDrain;

  #pod: SchedulerPod | null = null;
  #notifier: RunNotifier | null = null;
  #orders: OrderLog | null = null;
  #onStarted: (pod: SchedulerPod) => void = () => {};
  /** For what is done beside it in the same process. */
  readonly started = new Promise<SchedulerPod>((resolve) => (this.#onStarted = resolve));

  /** Whether alarms are raised and messages are sent beside it. */
  isWatched = false;

  /** `null` before it has started. */
  get pod(): SchedulerPod | null {
    return this.#pod;
  }

  onModuleInit(): void {
    this.signal.add(() => this.onModuleDestroy());
  }

  async onApplicationBootstrap(): Promise<void> {
    const { ledger, catalog, membership, queue, leases, clock, random, telemetry, tracing } = this;
    const { keeper } = this.held;
    const { sweepEveryMs, keepRuns, leaseTtlMs: ttlMs } = this.settings;
    const stores = { ledger, catalog, membership, queue, leases, keeper };
    const times = { ttlMs, sweepEveryMs, keepRuns, lookAgainMs: LOOK_AGAIN_MS };
    const instants = clock === systemClock ? preciseTimer(clock) : clock;
    const notifier = new RunNotifier({ ledger, queue: this.messages, telemetry, webhooks: this.settings.webhooks });
    this.#notifier = notifier;
    const trail = await openAuditTrail(this.redis, this.database, this.settings);
    const orders = new OrderLog({ trail, ledger, clock, telemetry, lookEveryMs: sweepEveryMs });
    const told = {
      leasePlace: placeOf(this.settings),
      queueLimits: (delivery: Delivery) => this.#queueLimits(delivery),
    };
    const pod = new SchedulerPod({
      ...stores,
      ...times,
      ...told,
      notifier,
      clock,
      instants,
      random,
      telemetry,
      tracing,
    });
    this.#orders = orders;
    this.#pod = pod;
    // Before anything is written, and where the deployment is too new for this process, it ends here.
    await retryOnBoot(() => membership.announce(keeper.holder));
    await retryOnBoot(() => pod.start());
    this.#onStarted(pod);
    if (!this.isWatched) this.#warnUnwatched(pod);
    await orders.start();
    await this.podRoles.begin(() => ({
      ...{ assigned: pod.assigned, held: pod.engine.size, weight: pod.weight, ...behindOf(pod) },
      leasesDownMs: pod.standstills.leasesDownMs,
      standstills: pod.standstills.found,
      leaseNodes: [...this.feed.nodes].map(([node, healthy]) => ({ node, healthy })),
    }));
  }

  #queueLimits(delivery: Delivery): Promise<readonly QueueLimits[]> {
    const { redis, settings } = this;
    return readQueueLimits({ redis, prefix: settings.prefix, tenant: settings.tenant, delivery });
  }

  #warnUnwatched({ catalogCache }: SchedulerPod): void {
    const { length: webhooks } = this.settings.webhooks;
    const asking = [...catalogCache.entries()].filter(({ entry }) => asksToBeWatched(entry.definition));
    if (webhooks + asking.length === 0) return;
    const crons = asking.slice(0, MAX_NAMED).map(({ entry }) => entry.definition.name);
    this.telemetry.emit('alarms.unwatched', { crons, webhooks });
  }

  async onModuleDestroy(): Promise<void> {
    // A worker in the same process still has runs to finish.
    if (!this.roles.includes('worker')) this.database?.enforceDeadline();
    // A look at a store that is away must not hold up the leases.
    await Promise.all([this.#orders?.stop(), this.#pod?.stop()]);
    await this.#notifier?.stop();
  }
}

function behindOf({ engine }: SchedulerPod): Pick<RoleFacts, 'lateMs' | 'backlog'> {
  const { lateMs, crons } = engine.behind();
  return { lateMs, backlog: crons };
}

function asksToBeWatched({ ping, expectEveryMs, lateAfterMs }: CronDefinition): boolean {
  return (ping ?? expectEveryMs ?? lateAfterMs) !== undefined;
}
