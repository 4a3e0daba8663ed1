import { seededRandom } from '../support/seeded-random.js';
import type { Cadence } from './cadence.js';
import type { Berth, Fleet } from './fleet.js';
import { PORTS, type PortName } from './trace.js';
import type { Network, Weather } from './network.js';
import type { People } from './people.js';
import type { Mishap, MishapKind } from './plan.js';
import { Rollouts } from './rollouts.js';
import { ROLLOUTS, type RolloutKind } from './rollout-kinds.js';
import type { Stores } from './stores.js';
import type { VirtualClock } from './virtual-clock.js';

export interface NemesisDeps {
  readonly world: VirtualClock;
  readonly cadence: Cadence;
  readonly fleet: Fleet;
  readonly network: Network;
  readonly stores: Stores;
  readonly people: People;
  /** Called when the ledger has lost what it had acknowledged. */
  readonly onHistoryLost: () => void;
  /** Called when a mishap strikes, with what it struck. */
  readonly onStruck: (mishap: Mishap, what: string) => void;
}

/** The longest that a server that fails over lags behind. */
const WORST_LAG_MS = 15 * 60_000;
const WORST_JUMP_MS = 2 * 3_600_000;
/** A process comes to harm within so many calls. */
const MAX_CALLS = 60;

/** Lets the mishaps of a plan happen, each at its time, until everything is healed. */
export class Nemesis {
  #over = false;

  readonly #rollouts: Rollouts;

  constructor(private readonly deps: NemesisDeps) {
    this.#rollouts = new Rollouts({ ...deps, in: (delayMs, task) => this.#in(delayMs, task) });
  }

  unleash(mishaps: readonly Mishap[]): void {
    for (const mishap of mishaps) {
      if (mishap.kind === 'failover') this.#failover(mishap);
      else this.#at(mishap.at, () => this.#strike(mishap));
    }
  }

  /** From now on nothing goes wrong any more, and all that has is put right. */
  heal(): void {
    this.#over = true;
    const { network, fleet, stores } = this.deps;
    network.heal();
    for (const berth of fleet.berths) {
      berth.process.disarm();
      berth.process.thaw();
      if (!berth.isSpare) fleet.start(berth);
    }
    stores.queue.pump();
  }

  #at(at: number, task: () => void): void {
    const { world } = this.deps;
    world.after(at - world.monotonic(), () => {
      if (!this.#over) task();
    });
  }

  #in(delayMs: number, task: () => void): void {
    this.#at(this.deps.world.monotonic() + delayMs, task);
  }

  #strike(mishap: Mishap): void {
    this.deps.onStruck(mishap, this.#whatOf(mishap));
  }

  #whatOf(mishap: Mishap): string {
    const { kind } = mishap;
    return isRollout(kind) ? this.#rollouts.strike(kind, mishap) : this.#STRIKES[kind](mishap);
  }

  readonly #STRIKES: Readonly<Record<Exclude<MishapKind, RolloutKind>, (mishap: Mishap) => string>> = {
    crash: (mishap) => this.#harm(mishap, (berth) => this.#crash(berth, mishap.forMs)),
    'crash at a call': (mishap) => this.#atCall(mishap, (berth) => this.#crash(berth, mishap.forMs)),
    freeze: (mishap) => this.#harm(mishap, (berth) => this.#freeze(berth, mishap.forMs)),
    'freeze at a call': (mishap) => this.#atCall(mishap, (berth) => this.#freeze(berth, mishap.forMs)),
    'machine sleep': (mishap) =>
      this.#harm(mishap, (berth) => {
        berth.process.sleep();
        this.#thawIn(berth, mishap.forMs);
      }),
    'clock jump': (mishap) =>
      this.#harm(mishap, ({ process }) => process.jumpWall(Math.round((mishap.strength * 2 - 1) ** 3 * WORST_JUMP_MS))),
    'lost requests': (mishap) => this.#disturb(mishap, 'lost requests'),
    'lost replies': (mishap) => this.#disturb(mishap, 'lost replies'),
    delays: (mishap) => this.#disturb(mishap, 'delays'),
    duplicates: (mishap) => this.#disturb(mishap, 'duplicates'),
    partition: (mishap) => this.#cut(mishap, { from: portsFor(mishap) }),
    isolation: (mishap) => this.#cut(mishap, { from: PORTS }),
    outage: (mishap) => this.#cut(mishap, { from: portsFor(mishap), everybody: true }),
    wipe: (mishap) => this.#wipe(mishap),
    failover: () => 'nothing',
    'lost jobs': ({ seed, strength }) => `${this.deps.stores.queue.lose(strength, seededRandom(seed))} jobs`,
    'repeated jobs': ({ seed, strength }) => `${this.deps.stores.queue.repeat(strength, seededRandom(seed))} jobs`,
    pause: (mishap) => this.#ask(this.deps.people.pause(mishap)),
    trigger: (mishap) => this.#ask(this.deps.people.trigger(mishap)),
    cancel: (mishap) => this.#ask(this.deps.people.cancel(mishap)),
    backfill: (mishap) => this.#ask(this.deps.people.backfill(mishap)),
    retry: (mishap) => this.#ask(this.deps.people.retry(mishap)),
  };

  #harm({ target }: Mishap, harm: (berth: Berth) => void): string {
    const berth = this.deps.fleet.chosen(target);
    if (!berth.process.runs) return `${berth.name}, which does not run`;
    harm(berth);
    return berth.process.name;
  }

  #atCall({ target, strength }: Mishap, harm: (berth: Berth) => void): string {
    const berth = this.deps.fleet.chosen(target);
    const calls = 1 + Math.floor(strength * MAX_CALLS);
    berth.process.arm(calls, () => {
      if (!this.#over) harm(berth);
    });
    return `${berth.process.name}, ${calls} calls later`;
  }

  #crash(berth: Berth, forMs: number): void {
    this.deps.fleet.kill(berth);
    this.#startIn(berth, forMs / 4);
  }

  #freeze(berth: Berth, forMs: number): void {
    berth.process.freeze();
    this.#thawIn(berth, forMs);
  }

  #thawIn({ process }: Berth, forMs: number): void {
    this.#in(forMs, () => {
      process.thaw();
      this.deps.stores.queue.pump();
    });
  }

  /** Some calls of one process, or of all of them. */
  #disturb(mishap: Mishap, weather: Weather): string {
    const { network, fleet, cadence } = this.deps;
    const { target, strength, seed, forMs } = mishap;
    const berth = strength < 0.5 ? fleet.chosen(target) : null;
    const end = network.begin({
      ...{ weather, seed, chance: 0.05 + 0.6 * target ** 2, delayMs: cadence.commandTimeoutMs * 2 },
      touches: ({ process }) => berth === null || process.name.startsWith(`${berth.name}/`),
    });
    this.#in(forMs, end);
    return berth?.name ?? 'all';
  }

  #cut({ target, strength, seed, forMs }: Mishap, { from, everybody = false }: Cut): string {
    const { network, fleet, stores } = this.deps;
    const berth = fleet.chosen(target);
    const touches = ({ process, port }: { process: { name: string }; port: PortName }) =>
      from.includes(port) && (everybody || process.name.startsWith(`${berth.name}/`));
    const weather = strength < 0.5 ? 'silence' : 'refusals';
    const end = network.begin({ weather, seed, chance: 1, delayMs: 0, touches });
    this.#in(forMs, () => {
      end();
      stores.queue.pump();
    });
    return `${everybody ? 'all' : berth.name} from ${from.join(', ')}`;
  }

  #wipe({ strength }: Mishap): string {
    const { stores } = this.deps;
    // With the ledger in the same server only what is a hint anyway can go alone.
    if (!stores.durable) stores.queue.wipe();
    else if (strength < 0.2) stores.leases.clear();
    else if (strength < 0.4) stores.wipeCatalog();
    else stores.wipe();
    return stores.durable ? 'what is not in the database' : 'the queue';
  }

  #failover(mishap: Mishap): void {
    const lagMs = Math.floor(mishap.strength * WORST_LAG_MS);
    this.#at(Math.max(mishap.at - lagMs, 0), () => {
      const back = this.deps.stores.snapshot();
      this.#in(lagMs, () => {
        back();
        if (!this.deps.stores.durable) this.deps.onHistoryLost();
        this.deps.onStruck(mishap, `${lagMs} ms behind`);
      });
    });
  }

  /** Also when everything is healed by then. */
  #startIn(berth: Berth, delayMs: number): void {
    this.deps.world.after(delayMs, () => this.deps.fleet.start(berth));
  }

  #ask(order: Promise<void>): string {
    void order;
    return 'people';
  }
}

function isRollout(kind: MishapKind): kind is RolloutKind {
  return (ROLLOUTS as readonly string[]).includes(kind);
}

interface Cut {
  readonly from: readonly PortName[];
  readonly everybody?: boolean;
}

/** One port, or all that one server has. */
function portsFor({ seed }: Mishap): readonly PortName[] {
  const luck = (seed % 1_000) / 1_000;
  if (luck < 0.3) return ['ledger'];
  if (luck < 0.5) return ['leases', 'catalog', 'membership', 'registry', 'queue'];
  const port = PORTS[Math.floor(luck * 2 * PORTS.length) % PORTS.length];
  return port ? [port] : PORTS;
}
