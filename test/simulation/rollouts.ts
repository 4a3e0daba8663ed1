import { seededRandom } from '../support/seeded-random.js';
import type { Cadence } from './cadence.js';
import type { Berth, Fleet } from './fleet.js';
import type { Network } from './network.js';
import type { Mishap } from './plan.js';
import type { RolloutKind } from './rollout-kinds.js';
import { PORTS, type PortName } from './trace.js';
import type { VirtualClock } from './virtual-clock.js';
import type { Program } from './workload.js';

export interface RolloutDeps {
  readonly world: VirtualClock;
  readonly cadence: Cadence;
  readonly fleet: Fleet;
  readonly network: Network;
  /** Does it then, unless everything is healed by that time. */
  readonly in: (delayMs: number, task: () => void) => void;
}

/** What is cut off with a revision: all that Redis has, and the catalog wherever it is. */
const STORES: readonly PortName[] = ['catalog', 'registry', 'membership', 'leases', 'queue'];

/** Changes which programs run, as deployments and their failures do. */
export class Rollouts {
  /** What the first app was deployed from before; `null` at the beginning. */
  #former: Program | null = null;

  constructor(private readonly deps: RolloutDeps) {}

  strike(kind: RolloutKind, mishap: Mishap): string {
    return this.#STRIKES[kind](mishap);
  }

  readonly #STRIKES: Readonly<Record<RolloutKind, (mishap: Mishap) => string>> = {
    deploy: (mishap) => this.#release(mishap, this.#next()),
    'config change': (mishap) => this.#release(mishap, { ...this.#now, config: this.#now.config + 1 }),
    'roll back': (mishap) => this.#release(mishap, this.#former ?? this.#now),
    'minute at load': (mishap) => this.#release(mishap, { ...this.#now, minute: 0 }),
    'rolling restart': (mishap) =>
      this.#roll(
        mishap,
        this.deps.fleet.berths.filter(({ isSpare }) => !isSpare),
      ),
    straggler: (mishap) => this.#straggler(mishap),
    canary: (mishap) => this.#canary(mishap),
    'blue green': (mishap) => this.#blueGreen(mishap),
    'crash loop': (mishap) => this.#crashLoop(mishap),
    'scale to zero': (mishap) => this.#scaleToZero(mishap),
    'second app': (mishap) => this.#secondApp(mishap),
    'revision cut off': (mishap) => this.#cutOff(mishap),
  };

  get #now(): Program {
    return this.deps.fleet.release;
  }

  /** Of the code that comes next; it has lost the minute that its crons chose at load. */
  #next(): Program {
    const { app, code, config } = this.#now;
    return { app, code: code + 1, config };
  }

  #release(mishap: Mishap, program: Program): string {
    const { fleet } = this.deps;
    [this.#former, fleet.release] = [fleet.release, program];
    return `${told(program)}: ${this.#roll(mishap, fleet.workers)}`;
  }

  /** One after the other, a few of them without a leave. Of the workers each becomes what is deployed by then. */
  #roll({ forMs, seed }: Mishap, berths: readonly Berth[]): string {
    const random = seededRandom(seed);
    berths.forEach((berth, n) => {
      const politely = random() < 0.8;
      this.deps.in((n * forMs) / 6, () => this.#replace(berth, { politely }));
    });
    return `${berths.length} processes`;
  }

  #replace(berth: Berth, { politely = true, program }: { politely?: boolean; program?: Program } = {}): void {
    const { fleet, cadence, world } = this.deps;
    const next = () => program ?? (berth.isSpare ? berth.program : this.#now);
    // Also when everything is healed by then.
    const start = () => void world.after(cadence.retryMs / 10, () => fleet.start(berth, next()));
    if (politely && berth.process.runs) void fleet.stop(berth).then(start);
    else {
      fleet.kill(berth);
      start();
    }
  }

  /** Of the deployed ones beside it, or after all of them are gone. */
  #straggler(mishap: Mishap): string {
    const { fleet } = this.deps;
    const { target, strength } = mishap;
    const { workers } = fleet;
    const berth = workers[Math.floor(target * workers.length)];
    const program = this.#former;
    if (!berth || !program) return 'nothing: it is the first release';
    const isAlone = strength < 0.4;
    const others = isAlone ? workers.filter((one) => one !== berth) : [];
    for (const other of others) void fleet.stop(other);
    this.#replace(berth, { politely: strength > 0.7, program });
    this.deps.in(this.#longMs(mishap), () => {
      for (const one of [berth, ...others]) this.#replace(one);
    });
    return `${berth.name} with ${told(program)}${isAlone ? ', alone' : ''}`;
  }

  /** It is withdrawn in the end, or everything becomes what it is. */
  #canary(mishap: Mishap): string {
    const { fleet } = this.deps;
    const berth = this.#free();
    if (!berth) return 'nothing: there is no place';
    const program = this.#next();
    fleet.start(berth, program);
    this.deps.in(this.#longMs(mishap), () => {
      void fleet.stop(berth);
      if (mishap.strength < 0.5) this.#release(mishap, program);
    });
    return `${berth.name} with ${told(program)}`;
  }

  /** All of the new ones are there before all of the others go at once; then the places are swapped. */
  #blueGreen(mishap: Mishap): string {
    const { fleet } = this.deps;
    const { workers, spares } = fleet;
    const green = this.#next();
    const longMs = this.#longMs(mishap);
    for (const spare of spares) this.#replace(spare, { program: green });
    this.deps.in(longMs / 4, () => {
      [this.#former, fleet.release] = [fleet.release, green];
      for (const berth of workers) void fleet.stop(berth);
    });
    this.deps.in(longMs / 2, () => {
      for (const berth of workers) fleet.start(berth, fleet.release);
    });
    this.deps.in((longMs * 3) / 4, () => {
      for (const spare of spares) void fleet.stop(spare);
    });
    return told(green);
  }

  #crashLoop({ seed, strength }: Mishap): string {
    const { fleet, cadence } = this.deps;
    const berth = this.#free();
    if (!berth) return 'nothing: there is no place';
    const random = seededRandom(seed);
    const program = this.#next();
    const crashes = 2 + Math.floor(strength * 6);
    let at = 0;
    for (let n = 0; n < crashes; n += 1) {
      this.deps.in(at, () => fleet.start(berth, program));
      at += random() * 3 * cadence.reportMs;
      this.deps.in(at, () => fleet.kill(berth));
      at += random() * 2 ** n * cadence.retryMs * 5;
    }
    return `${berth.name} with ${told(program)}, ${crashes} times`;
  }

  #scaleToZero(mishap: Mishap): string {
    const { fleet } = this.deps;
    const all = [...fleet.workers, ...fleet.spares.filter(({ program }) => program.app === 'shop')];
    for (const berth of all) void fleet.stop(berth);
    this.deps.in(this.#longMs(mishap), () => {
      for (const berth of fleet.workers) fleet.start(berth, fleet.release);
    });
    return `${all.length} processes`;
  }

  #secondApp(mishap: Mishap): string {
    const { fleet } = this.deps;
    const berth = this.#free();
    if (!berth) return 'nothing: there is no place';
    fleet.start(berth, { app: 'billing', code: 1, config: 0 });
    const stays = mishap.strength > 0.6;
    if (!stays) this.deps.in(2 * this.#longMs(mishap), () => void fleet.stop(berth));
    return berth.name;
  }

  /** All pods of one program, whichever that is. */
  #cutOff({ target, strength, seed, forMs }: Mishap): string {
    const { network, fleet } = this.deps;
    const there = fleet.berths.filter(({ role, vacant }) => role === 'worker' && !vacant);
    const of = there[Math.floor(target * there.length)];
    if (!of) return 'nothing: no worker is there';
    const names = there.filter(({ program }) => told(program) === told(of.program)).map(({ name }) => name);
    const from = seed % 2 === 0 ? PORTS : STORES;
    const touches = ({ process, port }: { process: { name: string }; port: PortName }) =>
      from.includes(port) && names.includes(process.name.split('/')[0] ?? '');
    const end = network.begin({
      ...({ weather: strength < 0.5 ? 'silence' : 'refusals', seed, chance: 1, delayMs: 0 } as const),
      touches,
    });
    this.deps.in(strength < 0.8 ? forMs : 4 * forMs, end);
    return `${names.join(', ')} from ${from.join(', ')}`;
  }

  /** A place in which nothing runs. */
  #free(): Berth | undefined {
    return this.deps.fleet.spares.find(({ vacant }) => vacant);
  }

  /** Longer than pods need to notice, by some minutes up to a day. */
  #longMs({ forMs }: Mishap): number {
    const { reportMs, podGoneMs } = this.deps.cadence;
    return 10 * forMs + reportMs + podGoneMs;
  }
}

function told({ app, code, config, minute }: Program): string {
  return `${app} ${code}.${config}${minute === undefined ? '' : ' at load'}`;
}
