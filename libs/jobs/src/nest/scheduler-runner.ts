import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { LeaseKeeper, type Clock, type LeaseStore } from '@fencepost/lease';
import { CLOCK, LEASE_STORE } from '@fencepost/lease/nest';
import type { Catalog } from '../catalog/catalog.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Presence } from '../scheduling/presence.js';
import type { RunQueue } from '../scheduling/run-queue.js';
import { SchedulerPod } from '../scheduling/scheduler-pod.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { insist } from './insist.js';
import type { JobsSettings } from './options.js';
import { CATALOG, JOBS_SETTINGS, LEDGER, PRESENCE, RANDOM, RUN_QUEUE } from './tokens.js';

/** A run that a sweep has put back gets this long to be begun before it is looked at again. */
const LOOK_AGAIN_MS = 10_000;

/** Starts the scheduler pod of this process, and stops it. */
@Injectable()
export class SchedulerRunner implements OnApplicationBootstrap, OnModuleDestroy {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(PRESENCE) private readonly presence!: Presence;
  @Inject(RUN_QUEUE) private readonly queue!: RunQueue;
  @Inject(LEASE_STORE) private readonly leases!: LeaseStore;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RANDOM) private readonly random!: () => number;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #pod: SchedulerPod | null = null;

  async onApplicationBootstrap(): Promise<void> {
    const { ledger, catalog, presence, queue, leases, keeper, clock, random, telemetry } = this;
    const { sweepEveryMs, keepRuns, leaseTtlMs: ttlMs } = this.settings;
    const stores = { ledger, catalog, presence, queue, leases, keeper };
    const times = { ttlMs, sweepEveryMs, keepRuns, lookAgainMs: LOOK_AGAIN_MS };
    const pod = new SchedulerPod({ ...stores, ...times, clock, random, telemetry });
    this.#pod = pod;
    await insist(() => pod.start());
  }

  async onModuleDestroy(): Promise<void> {
    await this.#pod?.stop();
  }
}
