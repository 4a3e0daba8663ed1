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
  return searchOrder(model, history, Infinity) === 'found';
}

/**
 * The search takes exponentially long in the worst case: with many replies that got lost, each may have happened or not.
 * @param mostSteps then it is given up, and nobody knows
 */
export function searchOrder<S, I, O>(
  model: Model<S, I, O>,
  history: readonly Operation<I, O>[],
  mostSteps: number,
): 'found' | 'none' | 'undecided' {
  const sorted = history.toSorted((a, b) => a.calledAt - b.calledAt);
  const search = new Search(model, sorted, mostSteps);
  const found = search.from({ done: 0n, state: model.initial, latestCall: 0 });
  if (found) return 'found';
  return search.isExhausted ? 'undecided' : 'none';
}

class Search<S, I, O> {
  /** Where the search has been in vain: which operations had taken effect, and what state that led to. */
  readonly #dead = new Set<string>();
  /** For each operation the one before it that would do the same, where both may still come at any time. */
  readonly #twins: readonly (number | undefined)[];

  constructor(
    private readonly model: Model<S, I, O>,
    private readonly history: readonly Operation<I, O>[],
    private left: number,
  ) {
    this.#twins = twinsIn(history);
  }

  /** Whether it ended before it had tried everything. */
  get isExhausted(): boolean {
    return this.left <= 0;
  }

  from(reached: Reached<S>): boolean {
    this.left -= 1;
    if (this.isExhausted) return false;
    const configuration = `${reached.done} ${JSON.stringify(reached.state)}`;
    if (this.#dead.has(configuration)) return false;
    const rest = this.history.flatMap((operation, n) => ((reached.done >> BigInt(n)) & 1n ? [] : [{ operation, n }]));
    const answered = rest.filter(({ operation }) => operation.output !== undefined);
    // What nobody knows the outcome of need not have happened.
    if (answered.length === 0) return true;
    const firstReturn = Math.min(...answered.map(({ operation }) => operation.returnedAt));
    const found = rest.some(({ operation, n }) => {
      const mayComeNext = operation.calledAt <= firstReturn && operation.returnedAt >= reached.latestCall;
      const twin = this.#twins[n];
      const isItsTurn = twin === undefined || ((reached.done >> BigInt(twin)) & 1n) === 1n;
      return mayComeNext && isItsTurn && this.#after(reached, operation, n);
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

/** Nobody could tell two of them apart, so trying them in one order is enough. */
function twinsIn<I, O>(history: readonly Operation<I, O>[]): (number | undefined)[] {
  const latest = new Map<string, number>();
  return history.map(({ input, output, returnedAt }, n) => {
    if (output !== undefined || returnedAt !== Infinity) return undefined;
    const key = JSON.stringify(input);
    const twin = latest.get(key);
    latest.set(key, n);
    return twin;
  });
}

interface Reached<S> {
  /** A bit for each operation that has taken effect. */
  readonly done: bigint;
  readonly state: S;
  /** Of those. What returned before it can't come after it. */
  readonly latestCall: number;
}
