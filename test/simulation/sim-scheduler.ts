import { LeaseKeeper } from '@fencepost/lease/internal';
import { SchedulerPod } from '../../libs/jobs/src/scheduling/scheduler-pod.js';
import type { Telemetry } from '../../libs/jobs/src/telemetry/telemetry.js';
import type { Cadence } from './cadence.js';
import type { Ports } from './ports.js';
import { retryWhileLeased } from './retry-while-leased.js';
import type { SimProcess } from './sim-process.js';

export interface SimSchedulerDeps {
  readonly process: SimProcess;
  readonly ports: Ports;
  readonly cadence: Cadence;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly keepRuns: number;
}

/** A scheduler process: the pod as the application starts it, over the ports of this process. */
export class SimScheduler {
  readonly #pod: SchedulerPod;

  constructor(private readonly deps: SimSchedulerDeps) {
    const { process, ports, cadence, telemetry, random, keepRuns } = deps;
    const { clock, name: holder } = process;
    const { pod: timing, ttlMs, sweepEveryMs, lookAgainMs } = cadence;
    let terms = 0;
    const keeper = new LeaseKeeper({
      store: ports.leases,
      clock,
      holder,
      randomUUID: () => `${holder}#${(terms += 1)}`,
    });
    this.#pod = new SchedulerPod({
      ...ports,
      ...{ keeper, clock, telemetry, random, timing, ttlMs, sweepEveryMs, lookAgainMs, keepRuns },
    });
  }

  start(): void {
    const { process, cadence } = this.deps;
    void retryWhileLeased(process, cadence.retryMs, () => this.#pod.start());
  }

  /** Resolves when it has nothing more to do. */
  stop(): Promise<void> {
    return this.#pod.stop();
  }
}
