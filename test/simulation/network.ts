import { seededRandom } from '../support/seeded-random.js';
import type { Link, PortName, Trace } from './trace.js';
import type { SimProcess } from './sim-process.js';
import type { VirtualClock } from './virtual-clock.js';

export const WEATHERS = ['lost requests', 'lost replies', 'delays', 'duplicates', 'silence', 'refusals'] as const;
export type Weather = (typeof WEATHERS)[number];

/** What goes wrong on some links, as long as it lasts. Its luck is its own, so that without it nothing else changes. */
export interface Disturbance {
  readonly weather: Weather;
  /** The share of calls it touches. */
  readonly chance: number;
  /** The longest delay, milliseconds. */
  readonly delayMs: number;
  readonly seed: number;
  readonly touches: (link: Link) => boolean;
}

interface OwnLink extends Link {
  active: readonly Raging[];
}

interface Raging {
  readonly disturbance: Disturbance;
  readonly random: () => number;
}

/** What becomes of one call. */
interface Fate {
  requestLost: boolean;
  replyLost: boolean;
  refused: boolean;
  requestMs: number;
  replyMs: number;
  /** When the same request arrives once more; the answer that is heard is then the second, or still the first. */
  again: { readonly afterMs: number; readonly heard: boolean } | null;
}

interface Call {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly send: () => Promise<unknown>;
}

export interface NetworkDeps {
  readonly world: VirtualClock;
  readonly trace: Trace;
  readonly commandTimeoutMs: number;
}

/** What some ports have beside their methods: it is reached in the same way. */
const PARTS = ['sessions', 'revisions'] as const;

/** Between the processes and the stores: every call of a port goes through here, and so does its answer. */
export class Network {
  readonly #links = new Set<OwnLink>();
  readonly #raging = new Set<Raging>();

  constructor(private readonly deps: NetworkDeps) {}

  /** A port of one process. What its target tells by itself is told only while the link is up and the process runs. */
  link<T extends object>(process: SimProcess, port: PortName, target: T): T {
    const link: OwnLink = { process, port, active: [] };
    this.#links.add(link);
    this.#expose(link);
    const linked: Record<string, unknown> = {};
    for (const method of methodsOf(target)) {
      const call = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
      linked[method] = (...args: unknown[]) => {
        const sent = method.startsWith('watch') ? args.map((one) => this.#hinted(link, one)) : args;
        return this.#call(link, { method, args, send: () => Reflect.apply(call, target, sent) });
      };
    }
    for (const part of PARTS) {
      const inner: unknown = Reflect.get(target, part);
      if (typeof inner === 'object' && inner !== null) linked[part] = this.link(process, port, inner);
    }
    return linked as T;
  }

  /** Of a process that is gone. */
  unlink(process: SimProcess): void {
    for (const link of this.#links) if (link.process === process) this.#links.delete(link);
  }

  /** @returns what ends it */
  begin(disturbance: Disturbance): () => void {
    const raging = { disturbance, random: seededRandom(disturbance.seed) };
    this.#raging.add(raging);
    for (const link of this.#links) this.#expose(link);
    return () => {
      this.#raging.delete(raging);
      for (const link of this.#links) this.#expose(link);
    };
  }

  heal(): void {
    this.#raging.clear();
    for (const link of this.#links) this.#expose(link);
  }

  /** Whether anything gets through on this link. */
  isUp(process: SimProcess, port: PortName): boolean {
    const cuts = ({ disturbance: { weather, touches } }: Raging) =>
      (weather === 'silence' || weather === 'refusals') && touches({ process, port });
    return ![...this.#raging].some(cuts);
  }

  /** Whether anything goes wrong on this link. */
  isDisturbed(process: SimProcess, port: PortName): boolean {
    return [...this.#raging].some(({ disturbance }) => disturbance.touches({ process, port }));
  }

  #expose(link: OwnLink): void {
    link.active = [...this.#raging].filter(({ disturbance }) => disturbance.touches(link));
  }

  #hinted({ process, port }: Link, told: unknown): unknown {
    if (typeof told !== 'function') return told;
    return (...args: unknown[]) => {
      if (process.runs && this.isUp(process, port)) Reflect.apply(told, undefined, args);
    };
  }

  async #call(link: OwnLink, call: Call): Promise<unknown> {
    const { process } = link;
    const { trace } = this.deps;
    process.boundary();
    if (!process.runs) await process.pass();
    trace.sent(link, call);
    try {
      const reply = await (link.active.length === 0 ? call.send() : this.#through(link, call));
      trace.heard(reply);
      return reply;
    } finally {
      process.boundary();
      if (!process.runs) await process.pass();
    }
  }

  /** What is on its way arrives also when its sender is dead by then. */
  #through({ process, active }: OwnLink, { method, send }: Call): Promise<unknown> {
    const { world, commandTimeoutMs } = this.deps;
    const fate = fateOf(active);
    if (fate.refused) return Promise.reject(new Error(`${method}: connect ECONNREFUSED`));
    return new Promise((resolve, reject) => {
      const impatience = process.clock.after(commandTimeoutMs, () => reject(new Error(`${method}: command timed out`)));
      const answer = (tell: () => void) => {
        if (fate.replyLost) return;
        world.after(fate.replyMs, () =>
          process.whenRuns(() => {
            impatience();
            tell();
          }),
        );
      };
      const arrive = (heard: boolean) =>
        send().then(
          (reply) => heard && answer(() => resolve(reply)),
          (error: Error) => heard && answer(() => reject(error)),
        );
      const { again } = fate;
      if (!fate.requestLost) world.after(fate.requestMs, () => void arrive(!again?.heard));
      if (again) world.after(fate.requestMs + again.afterMs, () => void arrive(again.heard));
    });
  }
}

function fateOf(active: readonly Raging[]): Fate {
  const fate: Fate = {
    ...{ requestLost: false, replyLost: false, refused: false },
    ...{ requestMs: 0, replyMs: 0, again: null },
  };
  for (const { disturbance, random } of active) {
    const { weather, chance, delayMs } = disturbance;
    // As many draws for each call, whatever comes of them.
    const [luck, one, other] = [random(), random(), random()];
    if (luck < chance) strike(fate, weather, { one, other, delayMs });
  }
  return fate;
}

interface Luck {
  readonly one: number;
  readonly other: number;
  readonly delayMs: number;
}

function strike(fate: Fate, weather: Weather, { one, other, delayMs }: Luck): void {
  switch (weather) {
    case 'lost requests':
    case 'silence':
      fate.requestLost = true;
      return;
    case 'lost replies':
      fate.replyLost = true;
      return;
    case 'refusals':
      fate.refused = true;
      return;
    case 'delays':
      fate.requestMs += one * one * delayMs;
      fate.replyMs += other * other * delayMs;
      return;
    case 'duplicates':
      fate.again = { afterMs: one * one * delayMs, heard: other < 0.5 };
  }
}

function methodsOf(target: object): Set<string> {
  const names = new Set<string>();
  for (let at: object | null = target; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      const { value } = Object.getOwnPropertyDescriptor(at, name) ?? {};
      if (name !== 'constructor' && typeof value === 'function') names.add(name);
    }
  }
  return names;
}
