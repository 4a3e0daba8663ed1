import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Standstill } from '../telemetry/standstill.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { REPORT_MS, type NewPodCard, type PodRegistry } from './pod-registry.js';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The result of one question for the time. */
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

/** Replies that are remembered: those of twenty seconds. */
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

/** What a role knows of itself; it changes from one report of the pod to the next. */
export interface RoleFacts {
  /** The number that the store gave to the set of definitions that this worker declares; none for a pod that declares nothing. */
  readonly revision?: number;
  /** How many crons are assigned to this scheduler. */
  readonly assigned?: number;
  /** How many leases of crons it holds. */
  readonly held?: number;
  /** How late the oldest cron is that it has not dispatched, milliseconds, and how many such crons there are. */
  readonly lateMs?: number;
  readonly backlog?: number;
  /** The weight that it announces; below 1 for a pod that was behind for long. */
  readonly weight?: number;
  /** The servers of the quorum on which it keeps leases; none where that is no quorum. */
  readonly leaseNodes?: readonly { readonly node: string; readonly healthy: boolean }[];
  /** For how long the store of the leases has failed, milliseconds; `null`: it answers. */
  readonly leasesDownMs?: number | null;
  /** Its crons that stand still. */
  readonly standstills?: readonly Standstill[];
  /** Its attempts that take far longer than usual. */
  readonly longRuns?: readonly Standstill[];
  /** How many runs this worker executes at most, and executes now. */
  readonly concurrency?: number;
  readonly running?: number;
  /** The crons and jobs it has handlers for, and those among them whose correctness depends on durable stores. */
  readonly handlers?: readonly string[];
  /** The pools of this worker, and the pool of each handler outside the default one. */
  readonly pools?: readonly string[];
  readonly pooled?: Readonly<Record<string, string>>;
  readonly critical?: readonly string[];
}

/** What the reporter measures. */
type Measured = 'clockSkewMs' | 'rttMs' | 'lagMs';

/** What stays the same for the life of the process. */
export type PodFacts = Omit<NewPodCard, keyof RoleFacts | Measured>;

export interface PodReporterDeps {
  readonly registry: Pick<PodRegistry, 'report' | 'leave'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly watchLag: () => LoopLag;
  readonly facts: PodFacts;
  /** Between two reports; default {@link REPORT_MS}. */
  readonly everyMs?: number;
}

const NO_ROLE = { revision: null, assigned: null, held: null, concurrency: null, running: null, handlers: [] };

/** Reports this pod from the start of its first role until it stops. A report that fails is not repeated: the next one follows. */
export class PodReporter {
  readonly #roles: (() => RoleFacts)[] = [];
  readonly #comparison = new ClockComparison();
  #lag: LoopLag | null = null;
  #lagMs = 0;
  #change: number | null = null;
  #cancel: CancelTimer = () => {};
  #reporting: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: PodReporterDeps) {}

  /** The counter of the registry as of the last report; `null` before the first. */
  get change(): number | null {
    return this.#change;
  }

  /** A role has begun: each report includes its facts from now on. Resolves after the first that does, whether it failed or not. */
  know(role: () => RoleFacts): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#roles.push(role);
    this.#lag ??= this.deps.watchLag();
    this.#cancel();
    this.#reporting = this.#reporting.then(() => this.#begin());
    return this.#reporting;
  }

  /** One report more than the regular ones: what the pod says of itself has changed. */
  reportNow(): Promise<void> {
    this.#reporting = this.#reporting.then(() => this.#report());
    return this.#reporting;
  }

  /** Removes the pod from the registry. A report that arrived after that would bring it back. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancel();
    this.#lag?.stop();
    await this.#reporting;
    if (this.#roles.length > 0) await this.#leave();
  }

  /** Twice: the first report asks for the time, the second one tells how far the clock is off. */
  async #begin(): Promise<void> {
    if (this.#comparison.best === null) await this.#report();
    await this.#report();
    this.#arm();
  }

  #arm(): void {
    this.#cancel();
    if (this.#stopped) return;
    const { clock, everyMs = REPORT_MS } = this.deps;
    this.#cancel = clock.after(everyMs, () => {
      this.#lagMs = this.#lag?.take() ?? 0;
      this.#reporting = this.#report().then(() => this.#arm());
    });
  }

  async #report(): Promise<void> {
    if (this.#stopped) return;
    const { registry, clock, telemetry } = this.deps;
    const [sentAt, asked] = [clock.now(), clock.monotonic()];
    try {
      const reply = await registry.report(this.#card());
      this.#comparison.hear({ sentAt, rttMs: clock.monotonic() - asked, theirs: reply.now });
      this.#change = reply.change;
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'pod.report' }, error);
    }
  }

  async #leave(): Promise<void> {
    const { registry, telemetry, facts } = this.deps;
    try {
      await registry.leave(facts.pod);
    } catch (error) {
      // It expires a little later.
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

/** The lateness of the event loop; to be stopped. */
export interface LoopLag {
  /** The 99th percentile since the last call, milliseconds. */
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
