import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper, type CancelTimer } from '@fencepost/lease/internal';
import { CLOCK } from '@fencepost/lease/nest';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings } from './options.js';
import { JOBS_SETTINGS } from './tokens.js';

const SIGNAL = 'SIGTERM';
/** An app may enable its hooks after it listens. */
const HOOKED_MS = 1_000;
/** On top of the drain deadline, for the leases that are given back. */
const CLOSING_MS = 5_000;

type Step = () => Promise<void>;

/**
 * Drains on SIGTERM where nothing else in the process handles it, such as `app.enableShutdownHooks()`: without that, the signal
 * would end the process in the middle of its runs.
 */
@Injectable()
export class SignalDrain implements OnApplicationBootstrap, OnModuleDestroy {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  readonly #steps: Step[] = [];
  #cancelWarning: CancelTimer = () => {};

  get deadlineMs(): number {
    return this.settings.drainDeadlineMs + CLOSING_MS;
  }

  /** What is stopped, in the order in which it was added. */
  add(step: Step): void {
    this.#steps.push(step);
  }

  onApplicationBootstrap(): void {
    // Nothing to drain: a process that only looks.
    if (this.#steps.length === 0) return;
    if (DRAINS.size === 0) process.on(SIGNAL, onSignal);
    DRAINS.add(this);
    this.#cancelWarning = this.clock.after(HOOKED_MS, () => this.#warn());
  }

  onModuleDestroy(): void {
    this.#cancelWarning();
    if (DRAINS.delete(this) && DRAINS.size === 0) process.off(SIGNAL, onSignal);
  }

  async drain(): Promise<void> {
    for (const step of this.#steps) await step().catch((error: unknown) => this.#trouble(error));
    await this.keeper.releaseAll().catch((error: unknown) => this.#trouble(error));
  }

  #warn(): void {
    const { drainDeadlineMs } = this.settings;
    if (isAlone()) this.telemetry.emit('shutdown.unhooked', { drainDeadlineMs });
  }

  #trouble(error: unknown): void {
    reportStoreFailure(this.telemetry, { operation: 'pod.drain' }, error);
  }
}

/** One listener for all modules of the process. */
const DRAINS = new Set<SignalDrain>();
let isDraining = false;

function onSignal(): void {
  if (isDraining || !isAlone()) return;
  isDraining = true;
  const drains = [...DRAINS];
  DRAINS.clear();
  // Ends as it would have without us, once it is drained or the deadline has passed.
  const end = () => {
    process.off(SIGNAL, onSignal);
    process.kill(process.pid, SIGNAL);
  };
  const timer = setTimeout(end, Math.max(0, ...drains.map(({ deadlineMs }) => deadlineMs)));
  void Promise.all(drains.map((drain) => drain.drain())).finally(() => {
    clearTimeout(timer);
    end();
  });
}

/** Whether nothing else in this process decides what SIGTERM does. */
function isAlone(): boolean {
  const others = process.listeners(SIGNAL).filter((listener) => listener !== onSignal).length;
  return others <= passiveListeners();
}

/** The package signal-exit listens, and ends the process only where no other listener is: it leaves the decision to us. */
function passiveListeners(): number {
  const emitters: unknown[] = [
    Reflect.get(globalThis, Symbol.for('signal-exit emitter')),
    Reflect.get(process, '__signal_exit_emitter__'),
  ];
  return emitters.reduce<number>((sum, emitter) => sum + (Number(Reflect.get(Object(emitter), 'count')) || 0), 0);
}
