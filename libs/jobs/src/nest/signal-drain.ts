import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper, type CancelTimer } from '@fencepost/lease/internal';
import { CLOCK } from '@fencepost/lease/nest';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings } from './options.js';
import { PodRoles, type ChosenRoles } from './pod-roles.js';
import { CHOSEN_ROLES, JOBS_SETTINGS } from './tokens.js';

/** Sent by orchestrators, by Ctrl-C and PM2, by a terminal that closes, and by nodemon. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const;
/** The terminal sends Ctrl-C to the whole process group, and npm forwards it again: a repeat within this time is the same one. */
const SAME_SIGNAL_MS = 500;
/** An app may enable its hooks once it has started, or after it listens. */
const HOOKED_MS = 1_000;
/** On top of the drain deadline, for the leases that are given back. */
const CLOSING_MS = 5_000;

type Step = () => Promise<void>;

/**
 * Drains on each signal that nothing else in the process handles, such as `app.enableShutdownHooks()`: without that, the signal
 * would end the process in the middle of its runs. The same signal once more ends it at once.
 */
@Injectable()
export class SignalDrain implements OnApplicationBootstrap, OnModuleDestroy {
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(CHOSEN_ROLES) private readonly chosen!: ChosenRoles;
  @Inject(PodRoles) private readonly podRoles!: PodRoles;

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
    // Before the application's own handlers, which may exit at once.
    if (DRAINS.size === 0) for (const signal of SIGNALS) process.prependListener(signal, onSignal);
    DRAINS.add(this);
    this.podRoles.whenAllBegun(this.chosen, () => {
      this.#cancelWarning = this.clock.after(HOOKED_MS, () => this.#warn());
    });
  }

  onModuleDestroy(): void {
    this.#cancelWarning();
    if (DRAINS.delete(this) && DRAINS.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  }

  async drain(): Promise<void> {
    for (const step of this.#steps) await step().catch((error: unknown) => this.#trouble(error));
    await this.keeper.releaseAll().catch((error: unknown) => this.#trouble(error));
  }

  #warn(): void {
    const { drainDeadlineMs } = this.settings;
    if (isAlone('SIGTERM')) this.telemetry.emit('shutdown.unhooked', { drainDeadlineMs });
  }

  #trouble(error: unknown): void {
    reportStoreFailure(this.telemetry, { operation: 'pod.drain' }, error);
  }
}

/** One listener for all modules of the process. */
const DRAINS = new Set<SignalDrain>();
let draining: { readonly signal: NodeJS.Signals; readonly since: number } | null = null;
let isSignalled = false;

/** Whether this process received one of these signals while it had a role. */
export function wasSignalled(): boolean {
  return isSignalled;
}

function onSignal(signal: NodeJS.Signals): void {
  isSignalled = true;
  if (draining !== null) {
    const isAnother = performance.now() - draining.since >= SAME_SIGNAL_MS;
    if (signal === draining.signal && isAnother) endBy(signal);
    return;
  }
  if (!isAlone(signal)) return;
  draining = { signal, since: performance.now() };
  const drains = [...DRAINS];
  DRAINS.clear();
  const timer = setTimeout(() => endBy(signal), Math.max(0, ...drains.map(({ deadlineMs }) => deadlineMs)));
  void Promise.all(drains.map((drain) => drain.drain())).finally(() => {
    clearTimeout(timer);
    endBy(signal);
  });
}

/** Ends the process as the signal would have done without this listener. */
function endBy(signal: NodeJS.Signals): void {
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}

/** Whether nothing else in this process decides what the signal does. */
function isAlone(signal: NodeJS.Signals): boolean {
  const others = process.listeners(signal).filter((listener) => listener !== onSignal).length;
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
