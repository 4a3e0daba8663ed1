import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const LOOK_MS = 500;

/**
 * Everything that ends a demo from outside. The first request ends it in order, the second at once. A parent that is gone
 * counts as a request at once: after `kill -9` of `npm start` nobody would be there to press Ctrl-C.
 */
export class Stopping {
  readonly #inOrder = new AbortController();
  readonly #atOnce = new AbortController();
  readonly #parent = process.ppid;
  #cancel: CancelTimer = () => {};

  constructor(private readonly clock: Clock) {}

  /** Aborts at the first request. */
  get inOrder(): AbortSignal {
    return this.#inOrder.signal;
  }

  /** Aborts at the second. */
  get atOnce(): AbortSignal {
    return this.#atOnce.signal;
  }

  /** @param withParent whether the parent is the script that started us, and not a shell that may well go first */
  listen(withParent: boolean): void {
    for (const signal of SIGNALS) process.on(signal, this.request);
    // Nobody reads any more what we say.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', this.request);
    if (withParent) this.#watchParent();
  }

  readonly request = (): void => {
    if (this.#inOrder.signal.aborted) this.#atOnce.abort();
    this.#inOrder.abort();
  };

  close(): void {
    this.#cancel();
    for (const signal of SIGNALS) process.off(signal, this.request);
  }

  #watchParent(): void {
    this.#cancel = this.clock.after(LOOK_MS, () => {
      if (process.ppid === this.#parent) return this.#watchParent();
      this.#inOrder.abort();
      this.#atOnce.abort();
    });
  }
}
