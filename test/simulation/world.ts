import { mixed } from '../support/seeded-random.js';
import type { Ledger } from '@fencepost/ledger';
import { seededRandom, Sometimes } from '../support/seeded-random.js';
import { cadence, type Cadence } from './cadence.js';
import { DeploymentWatch } from './deployment-watch.js';
import { Fleet } from './fleet.js';
import { handlers } from './handlers.js';
import { Nemesis } from './nemesis.js';
import { Network } from './network.js';
import { People } from './people.js';
import { MISHAPS, type Mishap, type Plan } from './plan.js';
import { portsOf } from './ports.js';
import { attend, BRANCHES } from './rules/branches.js';
import { SimProcess } from './sim-process.js';
import { Sinks } from './sinks.js';
import { Stores } from './stores.js';
import { Trace } from './trace.js';
import { runTicks, VirtualClock } from './virtual-clock.js';
import type { Settled } from './settle.js';
import { demand } from './rules/violation.js';
import { Violation, Watch } from './watch.js';
import { CRONS, graceOf } from './workload.js';

/** What a clock may have drifted from when a claim was planned until it arrives. */
const DRIFT_MS = 1_000;
export const SOMETIMES = [...BRANCHES, ...MISHAPS] as const;
export type Sometime = (typeof SOMETIMES)[number];

export interface Outcome {
  readonly seed: number;
  readonly violation: Error | null;
  readonly sometimes: Sometimes<Sometime>;
  readonly sinks: Sinks;
  readonly calls: number;
  readonly refusedOrders: number;
  /** Changes of definitions that no pod told of; and those whose pod died before it could. */
  readonly silentChanges: number;
  readonly untoldChanges: number;
  /** `null` for a world that did not come to its end. */
  readonly settled: Settled | null;
  readonly hash: string;
}

/** Which promise was broken; the kind of error for anything else that ended it. */
export function invariantOf({ violation }: Pick<Outcome, 'violation'>): string | null {
  return violation instanceof Violation ? violation.invariant : (violation?.name ?? null);
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Clocks in Berlin go forward in the first days of each second seed's world, and back in those of the others. */
const SPRING = Date.UTC(2030, 2, 30, 18);
const AUTUMN = Date.UTC(2030, 9, 26, 18);

/** After the last mishap everything goes on as usual for so long, and then, paused, comes to its end. */
const USUAL_MS = 2 * HOUR_MS;
const LAST_MS = 4 * HOUR_MS;
const ROUNDS = 6;

/** One deployment and its troubles from the first day to the last, then healed and held against what it promises. */
export class World {
  readonly clock: VirtualClock;
  readonly trace: Trace;
  readonly sinks = new Sinks();
  readonly sometimes = new Sometimes<Sometime>(SOMETIMES);
  readonly fleet: Fleet;
  readonly stores: Stores;
  readonly watch: Watch;
  readonly people: People;
  readonly deployments: DeploymentWatch;
  readonly #nemesis: Nemesis;
  readonly #cadence: Cadence;
  #failure: Error | null = null;
  #settled: Settled | null = null;

  constructor(readonly plan: Plan) {
    const { seed, durable, keepsCatalog, heartbeatMs, removeAfterMs } = plan;
    this.#cadence = cadence(heartbeatMs, removeAfterMs);
    this.clock = new VirtualClock(seed % 2 === 0 ? AUTUMN : SPRING);
    this.trace = new Trace(this.clock);
    const { clock, trace, sometimes } = this;
    this.stores = new Stores({
      ...{ clock, cadence: this.#cadence, random: seededRandom(mixed(seed, 90_001)), durable, keepsCatalog },
      onLost: (store) => this.deployments.onLost(store),
    });
    const graceFor = (cron: string, holder: string) => {
      const process = this.fleet.process(holder);
      // By its own clock it was right to leave the instant out, if that is ahead.
      return process ? graceOf(cron) - Math.max(0, process.maxAheadMs) - DRIFT_MS : -Infinity;
    };
    this.watch = new Watch({ clock, sometimes, durable, graceOf: graceFor });
    const network = new Network({ world: clock, trace, commandTimeoutMs: this.#cadence.commandTimeoutMs });
    const ledger: Ledger = this.watch.over(this.stores.ledger);
    const { leases, catalog, membership, registry, queue } = this.stores;
    const targets = { ledger, leases, catalog, membership, registry, queue };
    this.fleet = new Fleet({
      ...{ seed, world: clock, network, cadence: this.#cadence, targets },
      handlers: (program, process) => handlers(program, this.sinks, process.clock),
      onTelemetry: (telemetry) => {
        attend(telemetry, sometimes);
        this.deployments.attend(telemetry);
      },
      catalogFor: (berth) => this.deployments.over(berth),
    });
    this.deployments = new DeploymentWatch({
      ...{ world: clock, cadence: this.#cadence, catalog, fleet: this.fleet, network },
    });
    const person = new SimProcess(clock, { name: 'people', rate: 1, aheadMs: 0 });
    const ports = portsOf(network, person, targets);
    const answerFor = this.sinks.answerFor.bind(this.sinks);
    this.people = new People({
      process: person,
      ports,
      seed: mixed(seed, 90_002),
      answerFor,
      crons: () => CRONS,
    });
    this.#nemesis = new Nemesis({
      ...{ world: clock, cadence: this.#cadence, network, fleet: this.fleet, stores: this.stores, people: this.people },
      onHistoryLost: () => this.#onHistoryLost(),
      onStruck: (mishap, what) => this.#onStruck(mishap, what),
    });
  }

  async run(): Promise<Outcome> {
    const { plan, sometimes, sinks, trace } = this;
    try {
      this.deployments.start();
      this.fleet.startAll();
      this.people.watch();
      this.#nemesis.unleash(plan.mishaps);
      await this.#until(plan.days * DAY_MS);
      await this.#settle();
    } catch (error) {
      this.#failure ??= error as Error;
    }
    const { calls, hash } = trace;
    const { refused: refusedOrders } = this.people;
    const violation = this.#failure;
    const { silentChanges, untold: untoldChanges } = this.deployments;
    const counts = { calls, refusedOrders, silentChanges, untoldChanges };
    return { seed: plan.seed, violation, sometimes, sinks, ...counts, settled: this.#settled, hash };
  }

  async #settle(): Promise<void> {
    const { clock, people } = this;
    this.#nemesis.heal();
    void people.resumeAll();
    await this.#until(clock.monotonic() + USUAL_MS);
    void people.pauseAll();
    for (let round = 0; round < ROUNDS; round += 1) {
      void people.answerAll();
      void people.cancelUnhandled();
      await this.#until(clock.monotonic() + LAST_MS / ROUNDS);
    }
    const { leases: _, ...stores } = this.stores;
    this.#settled = await this.watch.settle({ ...stores, clock, sinks: this.sinks });
    const [silent] = this.deployments.silent;
    demand(silent === undefined, 'silent', () => `no pod told that ${silent}`);
  }

  /** A step after the other; the first broken promise ends it. */
  #until(end: number): Promise<void> {
    return runTicks(() => {
      const violation = this.watch.violation ?? this.deployments.violation;
      if (violation) throw violation;
      return this.clock.step(end);
    });
  }

  #onHistoryLost(): void {
    this.watch.onHistoryLost();
    this.sinks.onHistoryLost(this.clock.now());
  }

  #onStruck(mishap: Mishap, what: string): void {
    this.sometimes.saw(mishap.kind);
    this.trace.note(`${mishap.index} ${mishap.kind}: ${what}`);
  }
}
