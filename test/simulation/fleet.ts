import { LeaseKeeper } from '@fencepost/lease/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import { Telemetry } from '@fencepost/jobs';
import type { CronHandler } from '@fencepost/jobs/internal';
import { SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import { mixed, seededRandom } from '../support/seeded-random.js';
import type { Cadence } from './cadence.js';
import type { Network } from './network.js';
import { portsOf, type Ports } from './ports.js';
import { SimProcess } from './sim-process.js';
import type { SimQueue } from './sim-queue.js';
import { SimWorker, retryWhileLeased } from './sim-worker.js';
import type { VirtualClock } from './virtual-clock.js';
import type { Program } from './workload.js';

interface SimSchedulerDeps {
  readonly process: SimProcess;
  readonly ports: Ports;
  readonly cadence: Cadence;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly keepRuns: number;
}

/** A scheduler process: the pod as the application starts it, over the ports of this process. */
class SimScheduler {
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
      newNonce: () => `${holder}#${(terms += 1)}`,
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

const SCHEDULERS = 3;
const WORKERS = 3;
/** Places in which nothing runs unless somebody tries something out there. */
const SPARES = 2;
/** Quartz is that bad, and NTP pulls less. */
const WORST_RATE = 0.0005;
const WORST_SKEW_MS = 30_000;
/** Enough for a few days of the busiest cron, and few enough that runs are forgotten at all. */
const KEEP_RUNS = 400;

export interface FleetDeps {
  readonly seed: number;
  readonly world: VirtualClock;
  readonly network: Network;
  readonly cadence: Cadence;
  readonly targets: Ports & { readonly queue: SimQueue };
  readonly handlers: (program: Program, process: SimProcess) => (cron: string) => CronHandler | undefined;
  readonly onTelemetry: (telemetry: Telemetry) => void;
  /** The catalog as one process reaches it, with whoever watches in between. */
  readonly catalogFor: (berth: Berth) => Catalog;
}

/** One place in the deployment: a process after the other stands in it. */
export interface Berth {
  readonly name: string;
  readonly role: 'scheduler' | 'worker';
  readonly number: number;
  born: number;
  process: SimProcess;
  inside: SimScheduler | SimWorker | null;
  readonly isSpare: boolean;
  /** What a process that ends by itself is followed by. */
  program: Program;
  /** Whether somebody is about to start the next. */
  vacant: boolean;
}

/** All processes of the deployment: what is gone comes back, as an orchestrator sees to it. */
export class Fleet {
  readonly berths: readonly Berth[];
  /** What the workers of the first app are deployed from. */
  release: Program = { app: 'shop', code: 1, config: 0 };

  constructor(private readonly deps: FleetDeps) {
    const nobody = new SimProcess(deps.world, { name: 'nobody', rate: 1, aheadMs: 0 });
    nobody.crash();
    const berth =
      (role: Berth['role']) =>
      (_: unknown, n: number): Berth => ({
        ...{ name: `${role}-${n + 1}`, role, number: role === 'scheduler' ? n : SCHEDULERS + n },
        ...{ born: 0, process: nobody, inside: null, program: this.release, vacant: true },
        isSpare: role === 'worker' && n >= WORKERS,
      });
    this.berths = [
      ...Array.from({ length: SCHEDULERS }, berth('scheduler')),
      ...Array.from({ length: WORKERS + SPARES }, berth('worker')),
    ];
  }

  /** Whom a mishap strikes. */
  chosen(luck: number): Berth {
    const berth = this.berths[Math.floor(luck * this.berths.length)];
    if (!berth) throw new RangeError(`Expected a number from 0 up to 1, got ${luck}.`);
    return berth;
  }

  /** Of the first app, as it is deployed. */
  get workers(): readonly Berth[] {
    return this.berths.filter(({ role, isSpare }) => role === 'worker' && !isSpare);
  }

  get spares(): readonly Berth[] {
    return this.berths.filter(({ isSpare }) => isSpare);
  }

  startAll(): void {
    for (const berth of this.berths) if (!berth.isSpare) this.start(berth);
  }

  /** Of the same program as the process before, unless another one is to come. */
  start(berth: Berth, program = berth.program): void {
    if (!berth.vacant) return;
    const { world, network, targets } = this.deps;
    berth.born += 1;
    berth.vacant = false;
    berth.program = program;
    const random = seededRandom(mixed(this.deps.seed, 100_000 + berth.number * 1_000 + berth.born));
    const process = new SimProcess(world, {
      name: `${berth.name}/${berth.born}`,
      rate: 1 + (random() * 2 - 1) * WORST_RATE,
      aheadMs: Math.round((random() * 2 - 1) * WORST_SKEW_MS),
    });
    berth.process = process;
    const ports = portsOf(network, process, { ...targets, catalog: this.deps.catalogFor(berth) });
    berth.inside =
      berth.role === 'scheduler' ? this.#scheduler(process, ports, random) : this.#worker(berth, ports, random);
    berth.inside.start();
  }

  /** A process by its name, unless another one has taken its place. */
  process(name: string): SimProcess | undefined {
    return this.berths.find(({ process }) => process.name === name)?.process;
  }

  /** Nothing of it happens any more, and its place is free. */
  kill(berth: Berth): void {
    if (berth.vacant) return;
    berth.vacant = true;
    berth.process.crash();
    if (berth.inside instanceof SimWorker) berth.inside.gone();
    this.deps.network.unlink(berth.process);
  }

  /** With its leave, as long as the orchestrator waits for it. */
  async stop(berth: Berth): Promise<void> {
    const { process, inside } = berth;
    if (berth.vacant || !inside) return;
    await new Promise<void>((resolve) => {
      const kill = () => {
        if (berth.process === process) this.kill(berth);
        resolve();
      };
      this.deps.world.after(2 * this.deps.cadence.drainMs, kill);
      inside.stop().then(kill, kill);
    });
  }

  #telemetry(): Telemetry {
    const telemetry = new Telemetry();
    this.deps.onTelemetry(telemetry);
    return telemetry;
  }

  #scheduler(process: SimProcess, ports: Ports, random: () => number): SimScheduler {
    const { cadence } = this.deps;
    return new SimScheduler({ process, ports, cadence, random, telemetry: this.#telemetry(), keepRuns: KEEP_RUNS });
  }

  #worker({ process, program: from }: Berth, ports: Ports, random: () => number): SimWorker {
    const { cadence, network, targets, handlers } = this.deps;
    const program = from.minute === undefined ? from : { ...from, minute: Math.floor(random() * 60) };
    return new SimWorker({
      ...{ process, ports, cadence, random, program, telemetry: this.#telemetry(), queue: targets.queue },
      handlerOf: handlers(program, process),
      isHeard: () => network.isUp(process, 'queue'),
    });
  }
}
