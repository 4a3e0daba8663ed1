import { randomNonce } from '../base/identity.js';
import { NOTHING, type AcquireAnswer } from './held-lease.js';
import type { TryAcquireOptions } from './keeper-options.js';
import type { LeaseKeeper } from './lease-keeper.js';

/** One caller's place in the queue of a store that serves in order: its requests have a nonce in common. */
export class QueuedWaiter {
  readonly #keeper: LeaseKeeper;
  readonly #resource: string;
  #nonce: string | undefined;

  constructor(keeper: LeaseKeeper, resource: string) {
    this.#keeper = keeper;
    this.#resource = resource;
  }

  /** @throws as `LeaseKeeper.tryAcquire` does */
  async tryAcquire(options: TryAcquireOptions): Promise<AcquireAnswer> {
    const waitsAs = (this.#nonce ??= randomNonce());
    let isOver = true;
    try {
      const answer = await this.#keeper.tryAcquire(this.#resource, { ...options, waitsAs });
      isOver = answer.acquired || answer === NOTHING;
      return answer;
    } finally {
      // A term that was held or given back never comes again under its nonce: a command that was delayed could end it.
      if (isOver) this.#nonce = undefined;
    }
  }

  /** Ends the waiting, so that the resource isn't kept for a caller that has left. */
  leave(): void {
    if (this.#nonce !== undefined) this.#keeper.leave(this.#resource, this.#nonce);
  }
}
