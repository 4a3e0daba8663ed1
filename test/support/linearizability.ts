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

/**
 * The search takes exponentially long in the worst case: with many replies that got lost, each may have happened or not.
 * @param maxSteps then it is given up, and nobody knows
 */
export function searchOrder<S, I, O>(
  model: Model<S, I, O>,
  history: readonly Operation<I, O>[],
  maxSteps: number,
): 'found' | 'none' | 'undecided' {
  const sorted = history.toSorted((a, b) => a.calledAt - b.calledAt);
  return new Search(model, sorted, maxSteps).outcome();
}

/** Depth first, with a path of its own: a history of thousands of operations is deeper than the stack of calls. */
class Search<S, I, O> {
  /** Where the search has been in vain: which operations had taken effect, and what state that led to. */
  readonly #dead = new Set<string>();
  /** Positions in the history of those with an answer, and of those whose answer got lost. */
  readonly #answered: readonly number[];
  readonly #lost: readonly number[];
  /** For each operation the one before it that would do the same, where both may still come at any time. */
  readonly #repeats: readonly (number | undefined)[];

  constructor(
    private readonly model: Model<S, I, O>,
    private readonly history: readonly Operation<I, O>[],
    private left: number,
  ) {
    const known = (n: number) => history[n]!.output !== undefined;
    this.#answered = [...history.keys()].filter(known);
    this.#lost = [...history.keys()].filter((n) => !known(n));
    this.#repeats = repeatsIn(history);
  }

  outcome(): 'found' | 'none' | 'undecided' {
    const path: Step<S>[] = [];
    let reached: Reached<S> | null = { from: 0, ahead: [], lost: [], state: this.model.initial, latestCall: 0 };
    for (;;) {
      if (reached) {
        this.left -= 1;
        if (this.left <= 0) return 'undecided';
        // What nobody knows the outcome of need not have happened.
        if (reached.from === this.#answered.length) return 'found';
        const name = `${reached.from} ${reached.ahead.join()} ${reached.lost.join()} ${JSON.stringify(reached.state)}`;
        if (!this.#dead.has(name)) path.push({ name, reached, next: this.#next(reached).values() });
      }
      const step = path.at(-1);
      if (!step) return 'none';
      const { value: n } = step.next.next();
      if (n === undefined) {
        this.#dead.add(step.name);
        path.pop();
      }
      reached = n === undefined ? null : this.#after(step.reached, n);
    }
  }

  /** Which operations may take effect now: called before the first of the others returned, and not over before the last was called. */
  #next({ from, ahead, lost, latestCall }: Reached<S>): number[] {
    let firstReturn = Infinity;
    const open: number[] = [];
    for (let at = from; at < this.#answered.length; at += 1) {
      const n = this.#answered[at]!;
      const { calledAt, returnedAt } = this.history[n]!;
      if (calledAt > firstReturn) break;
      if (ahead.includes(n)) continue;
      open.push(n);
      firstReturn = Math.min(firstReturn, returnedAt);
    }
    const isItsTurn = (n: number) => this.#repeats[n] === undefined || lost.includes(this.#repeats[n]);
    for (const n of this.#lost) if (!lost.includes(n) && isItsTurn(n)) open.push(n);
    const mayBe = open.filter((n) => {
      const { calledAt, returnedAt } = this.history[n]!;
      return calledAt <= firstReturn && returnedAt >= latestCall;
    });
    return mayBe.toSorted((a, b) => a - b);
  }

  #after(reached: Reached<S>, n: number): Reached<S> | null {
    const operation = this.history[n]!;
    const state = this.model.step(reached.state, operation.input, operation.output);
    if (state === null) return null;
    const latestCall = Math.max(reached.latestCall, operation.calledAt);
    if (operation.output === undefined) return { ...reached, state, latestCall, lost: inOrder(reached.lost, n) };
    const ahead = inOrder(reached.ahead, n);
    let { from } = reached;
    while (ahead[0] !== undefined && ahead[0] === this.#answered[from]) {
      ahead.shift();
      from += 1;
    }
    return { ...reached, state, latestCall, from, ahead };
  }
}

function inOrder(numbers: readonly number[], more: number): number[] {
  return [...numbers, more].toSorted((a, b) => a - b);
}

/** Nobody could tell two of them apart, so trying them in one order is enough. */
function repeatsIn<I, O>(history: readonly Operation<I, O>[]): (number | undefined)[] {
  const latest = new Map<string, number>();
  return history.map(({ input, output, returnedAt }, n) => {
    if (output !== undefined || returnedAt !== Infinity) return undefined;
    const key = JSON.stringify(input);
    const repeated = latest.get(key);
    latest.set(key, n);
    return repeated;
  });
}

interface Step<S> {
  readonly name: string;
  readonly reached: Reached<S>;
  /** What is still to be tried from here. */
  readonly next: Iterator<number>;
}

/** Which operations have taken effect, and what that led to. */
interface Reached<S> {
  /** Of those with an answer all before this one; positions among them. */
  readonly from: number;
  /** Of those with an answer some that come later, and some whose answer got lost; positions in the history. */
  readonly ahead: readonly number[];
  readonly lost: readonly number[];
  readonly state: S;
  /** Of all of them. What returned before it can't come after it. */
  readonly latestCall: number;
}
