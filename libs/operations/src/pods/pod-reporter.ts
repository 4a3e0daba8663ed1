import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '@fencepost/jobs';
import { reportStoreFailure, type RoleFacts } from '@fencepost/jobs/internal';
import { ClockComparison } from './clock-comparison.js';
import type { LoopLag } from './loop-lag.js';
import { REPORT_MS, type NewPodCard, type PodRegistry } from './pod-registry.js';

/** What the reporter finds out by itself. */
type Measured = 'clockSkewMs' | 'rttMs' | 'lagMs';

/** What stays as it is for as long as the process lives. */
export type PodFacts = Omit<NewPodCard, keyof RoleFacts | Measured>;

export interface PodReporterDeps {
  readonly registry: PodRegistry;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly watchLag: () => LoopLag;
  readonly facts: PodFacts;
}

const NO_ROLE = { assigned: null, held: null, concurrency: null, running: null, handlers: [] };

/** Reports this pod from when the first of its roles has begun until it stops. A report that fails is left out. */
export class PodReporter {
  readonly #roles: (() => RoleFacts)[] = [];
  readonly #comparison = new ClockComparison();
  #lag: LoopLag | null = null;
  #lagMs = 0;
  #cancel: CancelTimer = () => {};
  #reporting: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: PodReporterDeps) {}

  /** A role has begun: what it says of itself belongs into each report from now on. */
  know(role: () => RoleFacts): void {
    if (this.#stopped) return;
    this.#roles.push(role);
    this.#lag ??= this.deps.watchLag();
    this.#cancel();
    this.#reporting = this.#reporting.then(() => this.#begin());
  }

  /** Takes the pod off the list. A report that arrived after that would bring it back. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancel();
    this.#lag?.stop();
    await this.#reporting;
    if (this.#roles.length > 0) await this.#leave();
  }

  /** Twice: the first one asks for the time, and says nothing of it. */
  async #begin(): Promise<void> {
    if (this.#comparison.best === null) await this.#report();
    await this.#report();
    this.#arm();
  }

  #arm(): void {
    this.#cancel();
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(REPORT_MS, () => {
      this.#lagMs = this.#lag?.take() ?? 0;
      this.#reporting = this.#report().then(() => this.#arm());
    });
  }

  async #report(): Promise<void> {
    if (this.#stopped) return;
    const { registry, clock, telemetry } = this.deps;
    const [sentAt, asked] = [clock.now(), clock.monotonic()];
    try {
      const theirs = await registry.report(this.#card());
      this.#comparison.hear({ sentAt, rttMs: clock.monotonic() - asked, theirs });
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'pod.report' }, error);
    }
  }

  async #leave(): Promise<void> {
    const { registry, telemetry, facts } = this.deps;
    try {
      await registry.leave(facts.pod);
    } catch (error) {
      // It is off the list by itself a little later.
      reportStoreFailure(telemetry, { operation: 'pod.leave' }, error);
    }
  }

  #card(): NewPodCard {
    const { skewMs = 0, rttMs = 0 } = this.#comparison.best ?? {};
    const measured = { clockSkewMs: rounded(skewMs), rttMs: rounded(rttMs), lagMs: rounded(this.#lagMs) };
    return Object.assign({ ...this.deps.facts, ...NO_ROLE, ...measured }, ...this.#roles.map((role) => role()));
  }
}

/** To a hundredth. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
