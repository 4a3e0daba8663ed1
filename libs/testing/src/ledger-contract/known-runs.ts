import { expect } from 'vitest';
import type { AttemptRef } from '@fencepost/ledger';
import { isTerminal, type OverlapPolicy, type Run } from '@fencepost/ledger/run';
import type { Stage } from './stage.js';

export const MAX_ATTEMPTS = 3;

/** What is known of a run from outside. */
export interface KnownRun {
  readonly overlap: OverlapPolicy;
  readonly maxConcurrency: number;
  /** Its start deadline has passed. */
  readonly late: boolean;
  /** The attempt that may change the run; `null` between two attempts. */
  current: AttemptRef | null;
  lapsed: boolean;
  last: Run;
  /** Answers of people: each allows one attempt more. */
  extraAttempts: number;
  /** Of each effect the attempt that began it first since it last failed. */
  readonly first: Map<string, number>;
  /** Of each effect every attempt that was allowed to begin it. */
  readonly begun: Map<string, Set<number>>;
  readonly done: Map<string, string>;
}

/** Every run that somebody made, and what has to be true of it. */
export class KnownRuns {
  readonly #runs = new Map<string, KnownRun>();

  constructor(private readonly stage: Stage) {}

  get size(): number {
    return this.#runs.size;
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  async add(id: string, how: Pick<KnownRun, 'overlap' | 'maxConcurrency' | 'late'>): Promise<void> {
    const last = await this.stage.run(id);
    const nothing = { first: new Map(), begun: new Map(), done: new Map() };
    this.#runs.set(id, { ...how, ...nothing, last, current: null, lapsed: false, extraAttempts: 0 });
  }

  of(id: string): KnownRun {
    const known = this.#runs.get(id);
    if (!known) throw new Error(`The model knows no run ${id}.`);
    return known;
  }

  pick(which: number): string | undefined {
    return [...this.#runs.keys()][which % Math.max(1, this.#runs.size)];
  }

  /** How many other runs have a worker that is alive. */
  aliveBeside(id: string): number {
    return [...this.#runs].filter(([other, known]) => other !== id && isAlive(known)).length;
  }

  /** Somebody was told to stop, or fenced out: what follows from it for who holds a run. */
  async notice(): Promise<void> {
    const now = await this.stage.harness.now();
    for (const [known, { cancel, state }] of await this.#read()) {
      if (cancel && cancel.until <= now) known.lapsed = true;
      if (state === 'cancelled' && cancel && known.lapsed) known.current = null;
    }
  }

  /** I5, I6, I10: whatever was called, only the current attempt has changed a run, and what is over stays as it is. */
  async check(): Promise<void> {
    for (const [known, run] of await this.#read()) {
      if (isTerminal(known.last.state)) expect(run).toEqual(known.last);
      expect(run.attempt).toBeLessThanOrEqual(MAX_ATTEMPTS + known.extraAttempts);
      expect(run.state === 'running').toBe(known.current !== null);
      known.last = run;
    }
  }

  /** All of them in one round trip: there are thousands of looks in a history. */
  #read(): Promise<(readonly [KnownRun, Run])[]> {
    return Promise.all([...this.#runs].map(async ([id, known]) => [known, await this.stage.run(id)] as const));
  }

  /** Every worker that is still there goes silent. */
  async lapseAll(): Promise<void> {
    for (const known of this.#runs.values()) {
      if (known.current === null || known.lapsed) continue;
      await this.stage.lapse(known.current);
      known.lapsed = true;
    }
  }
}

/** Whether a worker holds the run. */
export function isAlive({ current, lapsed }: KnownRun): boolean {
  return current !== null && !lapsed;
}

/** Whether nobody shall begin the run any more, once it has no worker. */
export function isGivenUp({ last, late }: KnownRun): boolean {
  return last.cancel !== null || (late && last.attempt === 0);
}

/** Makes a call, and makes it again as after a lost reply: the answer has to be the same. */
export async function once<T>(
  call: () => Promise<T>,
  twice: boolean,
  repeats: (reply: T) => boolean = () => true,
): Promise<T> {
  const reply = await call();
  if (twice && repeats(reply)) expect(await call()).toEqual(reply);
  return reply;
}
