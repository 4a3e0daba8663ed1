/**
 * Checks a recorded history against a sequential model (Wing and Gong, 1993; with Lowe's memory of configurations, 2017):
 * is there an order of the operations, each taking effect at one instant between its call and its return, in which a
 * single-threaded object would have given the same answers?
 */
export interface Operation<I, O> {
  readonly input: I;
  /** `undefined` where nobody knows: the reply got lost. It has then taken effect, or has not. */
  readonly output: O | undefined;
  readonly calledAt: number;
  /** When it had taken effect, if it ever did. */
  readonly returnedAt: number;
}

export interface Model<S, I, O> {
  readonly initial: S;
  /** The state afterwards, or `null` where an object in `state` could not have answered that. */
  step(state: S, input: I, output: O | undefined): S | null;
}

/** @returns whether such an order exists */
export function isLinearizable<S, I, O>(model: Model<S, I, O>, history: readonly Operation<I, O>[]): boolean {
  const sorted = history.toSorted((a, b) => a.calledAt - b.calledAt);
  return new Search(model, sorted).from({ done: 0n, state: model.initial, latestCall: 0 });
}

class Search<S, I, O> {
  /** Where the search has been in vain: which operations had taken effect, and what state that led to. */
  readonly #dead = new Set<string>();

  constructor(
    private readonly model: Model<S, I, O>,
    private readonly history: readonly Operation<I, O>[],
  ) {}

  from(reached: Reached<S>): boolean {
    const configuration = `${reached.done} ${JSON.stringify(reached.state)}`;
    if (this.#dead.has(configuration)) return false;
    const rest = this.history.flatMap((operation, n) => ((reached.done >> BigInt(n)) & 1n ? [] : [{ operation, n }]));
    const answered = rest.filter(({ operation }) => operation.output !== undefined);
    // What nobody knows the outcome of need not have happened.
    if (answered.length === 0) return true;
    const firstReturn = Math.min(...answered.map(({ operation }) => operation.returnedAt));
    const found = rest.some(({ operation, n }) => {
      const mayComeNext = operation.calledAt <= firstReturn && operation.returnedAt >= reached.latestCall;
      return mayComeNext && this.#after(reached, operation, n);
    });
    if (!found) this.#dead.add(configuration);
    return found;
  }

  #after({ done, state, latestCall }: Reached<S>, operation: Operation<I, O>, n: number): boolean {
    const next = this.model.step(state, operation.input, operation.output);
    if (next === null) return false;
    const latest = Math.max(latestCall, operation.calledAt);
    return this.from({ done: done | (1n << BigInt(n)), state: next, latestCall: latest });
  }
}

interface Reached<S> {
  /** A bit for each operation that has taken effect. */
  readonly done: bigint;
  readonly state: S;
  /** Of those. What returned before it can't come after it. */
  readonly latestCall: number;
}
