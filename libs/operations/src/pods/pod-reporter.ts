import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '@fencepost/jobs';
import { reportStoreFailure, type RoleFacts } from '@fencepost/jobs/internal';
import { REPORT_MS, type NewPodCard, type PodRegistry } from './pod-registry.js';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What a question about the time has found. */
interface ClockSample {
  /** The own clock minus the other, milliseconds. */
  readonly skewMs: number;
  readonly rttMs: number;
}

interface ClockReading {
  /** The own wall clock when the question was sent, epoch milliseconds. */
  readonly sentAt: number;
  /** From the question to its answer, by a clock that nobody sets, milliseconds. */
  readonly rttMs: number;
  /** What the other clock said, epoch milliseconds. */
  readonly theirs: number;
}

/** So many answers are remembered: twenty seconds of them. */
const MAX_KEPT = 4;

/**
 * How far the own clock is ahead of another one. The answer was given somewhere between question and answer: taken for the
 * middle, it is off by at most half the round trip, so the quickest of the last answers counts.
 *
 * After the clock filter of NTP, RFC 5905 section 10.
 */
export class ClockComparison {
  #samples: readonly ClockSample[] = [];

  /** `null`: nothing was heard yet. */
  get best(): ClockSample | null {
    return this.#samples.toSorted((a, b) => a.rttMs - b.rttMs)[0] ?? null;
  }

  hear({ sentAt, rttMs, theirs }: ClockReading): void {
    const sample = { skewMs: sentAt + rttMs / 2 - theirs, rttMs };
    // Two answers that can't both be right: a clock was set in between, and what was heard before is no longer true.
    const known = this.#samples.filter((other) => agree(other, sample));
    this.#samples = [...known, sample].slice(-MAX_KEPT);
  }
}

/** Wall clocks tell whole milliseconds. */
const READING_MS = 1;

function agree(a: ClockSample, b: ClockSample): boolean {
  return Math.abs(a.skewMs - b.skewMs) <= (a.rttMs + b.rttMs) / 2 + READING_MS;
}

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

/** How late the event loop is; an end belongs to it. */
interface LoopLag {
  /** 99 of 100 times since the last call by no more than this, milliseconds. */
  take(): number;
  stop(): void;
}

/** Between two looks of the monitor, milliseconds: short enough to see a block, and no work to speak of. */
const RESOLUTION_MS = 20;
const NANOS = 1e6;

/** Costs a timer of libuv that keeps no process alive. */
export function watchLoopLag(): LoopLag {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    take: () => {
      // What it measures is from one look to the next, the time it meant to wait included.
      const lag = histogram.count === 0 ? 0 : histogram.percentile(99) / NANOS - RESOLUTION_MS;
      histogram.reset();
      return Math.max(0, lag);
    },
    stop: () => void histogram.disable(),
  };
}
