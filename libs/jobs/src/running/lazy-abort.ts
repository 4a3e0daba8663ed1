/**
 * Whether something is over, and why. Makes an abort controller only when its signal is read: most runs are short and never
 * read it, and a signal costs more than everything else allocated for such a run.
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

  /** The first call wins. */
  end(reason: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#onEnd?.(reason);
  }

  /** For one watcher, called at once if it is already over. */
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

/** One shared getter: a getter per object would cost more than the signal that it saves. */
const SIGNAL = {
  enumerable: true,
  get(this: Ends): AbortSignal {
    return this[END].signal;
  },
};

/** Adds a `signal` that is made when it is read; destructuring and copying work as usual. */
export function withSignal<T extends { readonly signal: AbortSignal }>(end: LazyAbort, rest: Omit<T, 'signal'>): T {
  return Object.defineProperty<unknown>(Object.assign(rest, { [END]: end }), 'signal', SIGNAL) as T;
}
