/**
 * Whether something is over, and why. Tells what an abort controller tells, and makes one only for who asks for a signal:
 * most runs are short and nobody does, and a signal costs more than all else that is made for such a run.
 */
export class LazyAbort {
  #over = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  #onEnd: ((reason: unknown) => void) | undefined;

  get over(): boolean {
    return this.#over;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#over) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first end counts. */
  end(reason: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#onEnd?.(reason);
  }

  /** For one watcher, who is told at once when it is over already. */
  watch(onEnd: (reason: unknown) => void): void {
    this.#onEnd = onEnd;
    if (this.#over) onEnd(this.#reason);
  }

  unwatch(): void {
    this.#onEnd = undefined;
  }

  /** @throws the reason */
  throwIfOver(): void {
    if (this.#over) throw this.#reason;
  }
}

const END = Symbol('end');

interface Ends {
  readonly [END]: LazyAbort;
}

/** One function for all: a getter of its own would cost each object more than the signal that it saves. */
const SIGNAL = {
  enumerable: true,
  get(this: Ends): AbortSignal {
    return this[END].signal;
  },
};

/** Adds a `signal` that is made when somebody reads it; the object can be taken apart and copied as if it were there. */
export function withSignal<T extends { readonly signal: AbortSignal }>(end: LazyAbort, rest: Omit<T, 'signal'>): T {
  return Object.defineProperty<unknown>(Object.assign(rest, { [END]: end }), 'signal', SIGNAL) as T;
}
