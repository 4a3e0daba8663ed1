import { createHash } from 'node:crypto';
import { Sometimes } from '../support/seeded-random.js';
import { MISHAPS } from './plan.js';
import type { Summary } from './summary.js';
import { SOMETIMES, type Sometime } from './world.js';

/** A world in which a promise was broken. */
export interface Broken {
  readonly seed: number;
  readonly invariant: string;
  readonly message: string;
  readonly replay: string;
}

export interface Report {
  readonly ok: boolean;
  readonly seeds: number;
  readonly days: number;
  readonly simulatedYears: number;
  /** Milliseconds for each simulated day: that went by, and of the processor. */
  readonly msPerDay: number;
  readonly cpuMsPerDay: number;
  readonly mishaps: Readonly<Record<string, number>>;
  readonly branches: Readonly<Record<string, number>>;
  /** Of everything that happened in them, in its order: the same again for the same seeds. */
  readonly trace: string;
  readonly calls: number;
  readonly instants: number;
  readonly runs: number;
  readonly attempts: number;
  readonly uncertain: number;
  readonly violations: readonly Broken[];
  /** What has to happen at least once and did not. */
  readonly never: readonly string[];
  readonly controlDuplicates: number;
  /** Orders of people that were answered with an error. */
  readonly refusedOrders: number;
  /** Changes of definitions that no pod told of; has to be 0. */
  readonly silentChanges: number;
  /** Those whose pod died before it could tell. */
  readonly untoldChanges: number;
}

export interface Took {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** With fewer worlds some things may not have come up. */
const ENOUGH_SEEDS = 100;

const SUMS = [
  ...(['calls', 'instants', 'runs', 'attempts', 'uncertain', 'controlDuplicates', 'refusedOrders'] as const),
  ...(['silentChanges', 'untoldChanges'] as const),
];
type Sum = (typeof SUMS)[number];

/** What many worlds have shown, put together one by one. */
export class Tally {
  readonly #sometimes = new Sometimes<Sometime>(SOMETIMES);
  readonly #broken: Broken[] = [];
  readonly #sums = Object.fromEntries(SUMS.map((name) => [name, 0])) as Record<Sum, number>;
  #seeds = 0;
  readonly #trace = createHash('sha256');

  add({ counts, settled, hash, ...others }: Summary): void {
    this.#trace.update(hash);
    this.#seeds += 1;
    this.#sometimes.add(counts);
    const sums: Partial<Record<string, unknown>> = { ...settled, ...others };
    for (const name of Object.keys(this.#sums) as Sum[]) this.#sums[name] += Number(sums[name] ?? 0);
  }

  broke(broken: Broken): void {
    this.#broken.push(broken);
  }

  report(days: number, { wallMs, cpuMs }: Took): Report {
    const all = this.#seeds * days;
    const { counts } = this.#sometimes;
    const never = this.#sometimes.missing();
    const shown = this.#seeds < ENOUGH_SEEDS || (never.length === 0 && this.#sums.controlDuplicates > 0);
    const kinds: readonly string[] = MISHAPS;
    const part = (isMishap: boolean) =>
      Object.fromEntries(Object.entries(counts).filter(([name]) => kinds.includes(name) === isMishap));
    return {
      ok: this.#broken.length === 0 && shown,
      ...{ seeds: this.#seeds, days: all, simulatedYears: rounded(all / 365.25) },
      ...{ msPerDay: rounded(wallMs / all), cpuMsPerDay: rounded(cpuMs / all) },
      ...{ mishaps: part(true), branches: part(false), ...this.#sums },
      ...{ violations: this.#broken, never, trace: this.#trace.copy().digest('hex').slice(0, 16) },
    };
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** For people. */
export function told(report: Report): string {
  const { ok, seeds, days, msPerDay, cpuMsPerDay, mishaps, runs, attempts, violations, never } = report;
  const struck = Object.values(mishaps).reduce((sum, count) => sum + count, 0);
  return [
    `${ok ? 'Held' : 'FAILED'}: ${seeds} worlds, ${days} days, ${struck} mishaps, ${runs} runs, ${attempts} attempts.`,
    `${msPerDay} ms for a simulated day, ${cpuMsPerDay} ms of the processor.`,
    ...violations.map(({ seed, message, replay }) => `Seed ${seed}: ${message}\n  ${replay}`),
    ...(never.length === 0 || seeds < ENOUGH_SEEDS ? [] : [`Never seen: ${never.join(', ')}.`]),
  ].join('\n');
}
