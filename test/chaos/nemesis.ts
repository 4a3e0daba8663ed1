import { setMaxListeners } from 'node:events';
import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { seededRandom } from '../support/seeded-random.js';
import { between, type Range, shuffled } from './draw.js';
import type { Fault } from './fault.js';

/** Which fault is next: those that have not struck yet one after the other, and then each by its weight. */
class FaultDeck {
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

export interface Nemesis {
  readonly faults: readonly Fault[];
  /** Seeded; what is struck, how and when follows from it, as far as real processes let it. */
  readonly random: () => number;
  /** Ends it: what is struck is mended at once, and nothing is struck any more. */
  readonly signal: AbortSignal;
  /** How many faults of a target may be under way at the same time; default one. */
  readonly atOnce?: Readonly<Partial<Record<Fault['target'], number>>>;
  /** Between two faults that follow each other; default 100 to 700 ms for processes, 500 to 2,000 for stores. */
  readonly pauseMs?: Readonly<Partial<Record<Fault['target'], Range>>>;
  /** Hears of each strike when it begins, and when it is over. */
  readonly onStrike?: (strike: Strike) => void;
}

export interface Strike {
  readonly kind: string;
  readonly phase: 'begun' | 'mended' | 'impossible';
}

const PAUSE_MS = { process: { least: 100, most: 700 }, store: { least: 500, most: 2_000 } } as const;
const SEEDS = 2 ** 32;

/**
 * Strikes until the signal aborts, and resolves when everything it struck is mended. Each kind comes once, in an order of
 * the seed's, before any of that target comes again by its weight: a short run has to have had them all.
 * @returns how often each kind struck, with a 0 for one that never did
 * @throws what a fault throws, when the others are mended
 */
export async function unleash(nemesis: Nemesis): Promise<Readonly<Record<string, number>>> {
  const { faults, random, atOnce = {} } = nemesis;
  const failed = new AbortController();
  const signal = AbortSignal.any([nemesis.signal, failed.signal]);
  const counts: Record<string, number> = Object.fromEntries(faults.map(({ kind }) => [kind, 0]));
  const lanes = (['process', 'store'] as const).flatMap((target) => {
    const ofTarget = faults.filter((fault) => fault.target === target);
    if (ofTarget.length === 0) return [];
    const deck = new FaultDeck(ofTarget, drawFrom(random));
    // A lane has numbers of its own, so that the pace of one doesn't change what another does.
    return Array.from({ length: atOnce[target] ?? 1 }, () => ({ deck, target, counts, random: drawFrom(random) }));
  });
  // Each lane listens, and what it strikes; node takes more than ten for a leak.
  setMaxListeners(10 * lanes.length, signal);
  const fail = (error: unknown) => {
    failed.abort();
    throw error;
  };
  const ended = await Promise.allSettled(lanes.map((lane) => strikeOn(lane, { ...nemesis, signal }).catch(fail)));
  const broken = ended.find((lane) => lane.status === 'rejected');
  if (broken) throw broken.reason;
  return counts;
}

interface Lane {
  readonly deck: FaultDeck;
  readonly target: Fault['target'];
  readonly random: () => number;
  readonly counts: Record<string, number>;
}

function drawFrom(random: () => number): () => number {
  return seededRandom(Math.floor(random() * SEEDS));
}

async function strikeOn({ deck, target, random, counts }: Lane, nemesis: Nemesis): Promise<void> {
  const { signal, onStrike, pauseMs = {} } = nemesis;
  while (!signal.aborted) {
    await sleep(systemClock, between(pauseMs[target] ?? PAUSE_MS[target], random), signal);
    const fault = signal.aborted ? undefined : deck.draw();
    if (!fault) continue;
    const { kind } = fault;
    onStrike?.({ kind, phase: 'begun' });
    const struck = await fault.strike(random, signal);
    deck.putBack(fault, struck);
    if (struck) counts[kind] = (counts[kind] ?? 0) + 1;
    onStrike?.({ kind, phase: struck ? 'mended' : 'impossible' });
  }
}
