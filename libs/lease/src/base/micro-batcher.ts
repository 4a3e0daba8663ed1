import { setImmediate } from 'node:timers';

export interface MicroBatcherOptions<Q, A> {
  /**
   * Asks the store for all of them at once. Answers in the order given; an `Error` in the place of an answer rejects that
   * one call alone, and a rejection all of them.
   */
  readonly send: (items: readonly Q[]) => Promise<readonly (A | Error)[]>;
  /** How many calls go together; what is beyond goes with the next batch. */
  readonly most: number;
  /** How many batches are on their way at once; what comes meanwhile waits, and goes together then. */
  readonly inFlight: number;
}

interface Call<Q, A> {
  readonly item: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets the calls of one turn of the event loop travel together: a round trip costs a store more than what is asked in it.
 *
 * A call alone waits for the end of its turn and for nothing else. The busier the store, the longer the batches, because
 * what comes while as many are on their way as may be is collected until one of them is back.
 */
export class MicroBatcher<Q, A> {
  readonly #options: MicroBatcherOptions<Q, A>;
  #calls: Call<Q, A>[] = [];
  #due = false;
  #flying = 0;

  constructor(options: MicroBatcherOptions<Q, A>) {
    this.#options = options;
  }

  ask(item: Q): Promise<A> {
    if (!this.#due) {
      this.#due = true;
      setImmediate(this.#depart);
    }
    return new Promise((resolve, reject) => void this.#calls.push({ item, resolve, reject }));
  }

  readonly #depart = (): void => {
    this.#due = false;
    while (this.#calls.length > 0 && this.#flying < this.#options.inFlight) {
      const calls = this.#calls.splice(0, this.#options.most);
      this.#flying += 1;
      try {
        void this.#arrive(calls, this.#options.send(calls.map(({ item }) => item)));
      } catch (error) {
        void this.#arrive(calls, Promise.reject(error));
      }
    }
  };

  async #arrive(calls: readonly Call<Q, A>[], answers: Promise<readonly (A | Error)[]>): Promise<void> {
    try {
      settle(calls, await answers);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
    this.#flying -= 1;
    // Those whose turn is still going on leave with the rest of it.
    if (!this.#due) this.#depart();
  }
}

function settle<Q, A>(calls: readonly Call<Q, A>[], answers: readonly (A | Error)[]): void {
  if (answers.length !== calls.length) {
    throw new Error(`Expected ${calls.length} answers for a batch of ${calls.length}, got ${answers.length}.`);
  }
  for (const [n, { resolve, reject }] of calls.entries()) {
    const answer = answers[n] as A | Error;
    if (answer instanceof Error) reject(answer);
    else resolve(answer);
  }
}
