import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { LeaseKeeper, type CancelTimer, type Clock, type LeaseStore, type StopWatching } from '@fencepost/lease';
import { CLOCK, LEASE_STORE } from '@fencepost/lease/nest';
import type { Catalog } from '../catalog/catalog.js';
import type { Ledger } from '../ledger/ledger.js';
import { Dispatcher } from '../scheduling/dispatcher.js';
import { Engine } from '../scheduling/engine.js';
import { Recovery } from '../scheduling/recovery.js';
import { Roster } from '../scheduling/roster.js';
import type { RunQueue } from '../scheduling/run-queue.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { insist } from './insist.js';
import type { JobsSettings } from './options.js';
import { CATALOG, JOBS_SETTINGS, LEDGER, RANDOM, RUN_QUEUE } from './tokens.js';

/** Announcements of the catalog may get lost; this often a pod reads it unasked. */
const REFRESH_MS = 5_000;

/** A run that a sweep has put back gets this long to be begun before it is looked at again. */
const LOOK_AGAIN_MS = 10_000;

interface Parts {
  readonly engine: Engine;
  readonly roster: Roster;
}

/** Puts a scheduler pod together, starts it, and stops it in the order that lets the next pod take over at once. */
@Injectable()
export class SchedulerRunner implements OnApplicationBootstrap, OnModuleDestroy {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LEDGER) private readonly ledger!: Ledger;
  @Inject(CATALOG) private readonly catalog!: Catalog;
  @Inject(RUN_QUEUE) private readonly queue!: RunQueue;
  @Inject(LEASE_STORE) private readonly leases!: LeaseStore;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RANDOM) private readonly random!: () => number;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  readonly #watches: StopWatching[] = [];
  #parts: Parts | null = null;
  #cancelRefresh: CancelTimer = () => {};

  async onApplicationBootstrap(): Promise<void> {
    const { engine, roster } = this.#assemble();
    this.#parts = { engine, roster };
    engine.start();
    this.#watches.push(await insist(() => this.leases.watchReleases((cron) => roster.wake(cron))));
    this.#watches.push(await insist(() => this.catalog.watch(() => void roster.refresh())));
    await roster.refresh();
    // Stopped while it started.
    if (this.#parts === null) await this.#unwatch();
    else this.#armRefresh(roster);
  }

  /** Stop claiming, then release all leases in one batch; only then the rest. */
  async onModuleDestroy(): Promise<void> {
    const parts = this.#parts;
    this.#parts = null;
    if (parts === null) return;
    this.#cancelRefresh();
    parts.roster.halt();
    await parts.engine.stop();
    try {
      await this.keeper.releaseAll();
    } catch (error) {
      this.telemetry.emit('store.trouble', { doing: 'releasing the leases', error: String(error) });
    }
    await parts.roster.stop();
    await this.#unwatch();
  }

  async #unwatch(): Promise<void> {
    await Promise.all(this.#watches.splice(0).map((stop) => stop()));
  }

  #assemble(): Parts {
    const { ledger, queue, clock, telemetry, keeper, catalog, random, settings } = this;
    const { sweepEveryMs, keepRuns, leaseTtlMs: ttlMs } = settings;
    const dispatcher = new Dispatcher({ ledger, queue, clock, telemetry });
    const recovery = new Recovery({ ledger, queue, dispatcher, telemetry, lookAgainMs: LOOK_AGAIN_MS, keepRuns });
    const engine = new Engine({ ledger, dispatcher, recovery, clock, telemetry, sweepEveryMs });
    const roster = new Roster({ catalog, engine, ledger, keeper, clock, telemetry, random, ttlMs });
    return { engine, roster };
  }

  #armRefresh(roster: Roster): void {
    this.#cancelRefresh = this.clock.after(REFRESH_MS, () => {
      void roster.refresh();
      this.#armRefresh(roster);
    });
  }
}
