import { shuffled } from './draw.js';
import type { Fault } from './fault.js';

/** Which fault is next: those that have not struck yet one after the other, and then each by its weight. */
export class FaultDeck {
  readonly #all: readonly Fault[];
  /** In the order in which they are tried; what could not strike is tried again after the others. */
  readonly #unfired: Fault[];
  readonly #underWay = new Set<Fault>();
  readonly #fired = new Set<Fault>();

  constructor(
    faults: readonly Fault[],
    private readonly random: () => number,
  ) {
    this.#all = faults;
    this.#unfired = shuffled(faults, random);
  }

  /** `undefined` while each that is left is under way. */
  draw(): Fault | undefined {
    const fault = this.#unfired.shift() ?? this.#byWeight();
    if (fault) this.#underWay.add(fault);
    return fault;
  }

  putBack(fault: Fault, struck: boolean): void {
    this.#underWay.delete(fault);
    if (!struck && !this.#fired.has(fault)) this.#unfired.push(fault);
    if (struck) this.#fired.add(fault);
  }

  #byWeight(): Fault | undefined {
    const free = this.#all.filter((fault) => !this.#underWay.has(fault));
    const weights = free.map(({ weight = 1 }) => weight);
    let left = this.random() * weights.reduce((sum, weight) => sum + weight, 0);
    return free.find((_, n) => (left -= weights[n] ?? 0) < 0);
  }
}
