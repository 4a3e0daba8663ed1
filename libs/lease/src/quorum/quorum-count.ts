import type { QuorumNode } from './quorum-node.js';
import type { NodeFailure } from './quorum-unavailable-error.js';

export interface Ballot<T> {
  readonly node: QuorumNode;
  readonly answer: T;
}

/** The replies so far. */
export interface Tally<T> {
  readonly answers: readonly Ballot<T>[];
  readonly failures: readonly NodeFailure[];
  /** How many may still answer. */
  readonly open: number;
}

export interface CountOptions<T, D> {
  readonly open: number;
  readonly decide: (tally: Tally<T>) => D | undefined;
  readonly onDecided: (decision: D) => void;
  /** With what `decide` threw, or with nothing when everybody was heard in vain. */
  readonly onUndecided: (failures: readonly NodeFailure[], thrown?: { readonly error: unknown }) => void;
  readonly onLate: (ballot: Ballot<T>) => void;
}

/** Counts answers until they decide; each answer is either counted or late. */
export class QuorumCount<T, D> implements Tally<T> {
  readonly answers: Ballot<T>[] = [];
  readonly failures: NodeFailure[] = [];
  readonly #options: CountOptions<T, D>;
  #open: number;
  #decided = false;

  constructor(options: CountOptions<T, D>) {
    this.#options = options;
    this.#open = options.open;
  }

  get open(): number {
    return this.#open;
  }

  answered(ballot: Ballot<T>): void {
    if (this.#decided) return this.#options.onLate(ballot);
    this.answers.push(ballot);
    this.#look();
  }

  failed(failure: NodeFailure): void {
    if (this.#decided) return;
    this.failures.push(failure);
    this.#look();
  }

  #look(): void {
    this.#open -= 1;
    const { decide, onDecided, onUndecided } = this.#options;
    try {
      const decision = decide(this);
      this.#decided = decision !== undefined || this.#open === 0;
      if (decision !== undefined) onDecided(decision);
      else if (this.#decided) onUndecided(this.failures);
    } catch (error) {
      this.#decided = true;
      onUndecided(this.failures, { error });
    }
  }
}
