import { UnawaitedEffectError } from './errors.js';

/** Called when a promise is first looked at, and when it has settled. */
interface Watch {
  readonly observed: () => void;
  /** For a promise that `then` made of it. */
  readonly derived: () => Watch;
  readonly rejected: (error: unknown) => void;
  readonly fulfilled: () => void;
}

/**
 * A promise that handles its own rejection, so that a handler that forgets it does not end the process, and that knows whether
 * anything has looked at it. `await` calls `then`, because its constructor is not `Promise`.
 */
class WatchedPromise<T> extends Promise<T> {
  #watch: Watch | null = null;

  watch(watch: Watch): this {
    // Of the base class: looking by itself is not what the handler did.
    void super.then(watch.fulfilled, watch.rejected);
    this.#watch = watch;
    return this;
  }

  // What `await` and Promise.all call is how this class hears that it was looked at.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = super.then(onFulfilled, onRejected);
    const watch = this.#watch;
    if (watch && next instanceof WatchedPromise) {
      watch.observed();
      void next.watch(watch.derived());
    }
    return next;
  }
}

interface Started {
  readonly name: string;
  /** Whether the handler called an effect for it, and not `then` of one. */
  readonly isEffect: boolean;
  readonly settled: Promise<void>;
  observed: boolean;
  failure: { readonly error: unknown } | null;
}

/** The effects that one attempt has started and that its handler has not yet waited for. */
export class AwaitedEffects {
  readonly #open = new Set<Started>();

  /** @param name what the effect is called in the message */
  track<T>(name: string, work: Promise<T>): Promise<T> {
    const promise = new WatchedPromise<T>((resolve, reject) => void work.then(resolve, reject));
    return promise.watch(this.#watch(name, true));
  }

  /**
   * Called when the handler has returned. Waits for the effects that still go on, so that their outcomes are recorded.
   * @throws {UnawaitedEffectError} when the handler did not wait for an effect, or dropped the failure of one
   */
  async check(): Promise<void> {
    // The handler may have looked at its last effect in the turn in which it returned.
    const forgotten = [...this.#open].filter(({ observed, isEffect }) => isEffect && !observed);
    const pending = [...this.#open];
    await Promise.all(pending.map(({ settled }) => settled));
    const failed = pending.find(({ failure, observed }) => failure !== null && !observed);
    const [first] = [...forgotten, ...pending.filter(({ isEffect }) => isEffect), ...(failed ? [failed] : [])];
    if (first) throw new UnawaitedEffectError(first.name, { cause: first.failure?.error });
  }

  #watch(name: string, isEffect: boolean): Watch {
    const { promise: settled, resolve: settle } = withResolvers();
    const started: Started = { name, isEffect, settled, observed: false, failure: null };
    this.#open.add(started);
    let over = false;
    const done = (failure: Started['failure']) => {
      [over, started.failure] = [true, failure];
      // A derived promise that fulfils is nobody's loss: `await` makes one and drops it.
      if (started.observed || (!isEffect && !failure)) this.#open.delete(started);
      settle();
    };
    return {
      observed: () => {
        started.observed = true;
        if (over) this.#open.delete(started);
      },
      derived: () => this.#watch(name, false),
      fulfilled: () => done(null),
      rejected: (error) => done({ error }),
    };
  }
}

/** `Promise.withResolvers` is not in Node 20. */
function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
