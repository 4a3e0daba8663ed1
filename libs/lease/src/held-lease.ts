import { LeaseLostError } from './errors.js';
import type { LossReason } from './errors.js';
import { renewed } from './lease.js';
import type { Lease } from './lease.js';

/** A lease that is renewed by its keeper until it is released or lost. */
export interface HeldLease {
  readonly acquired: true;
  /** As of the last renewal; the fence never changes within a term. */
  readonly lease: Lease;
  /** Aborts when the right to act ends: with a {@link LeaseLostError} when it was lost, else because it was released. */
  readonly signal: AbortSignal;
  /**
   * Ends the term, so that somebody else gets in at once. To be called when the work has stopped, also after a loss.
   * @returns whether the term was still ours
   * @throws when the store could not be asked; the term then ends by itself within its ttl
   */
  release(): Promise<boolean>;
}

/** "Not acquired" is a value: `remainingMs` is how long the present holder has left. */
export interface NotAcquired {
  readonly acquired: false;
  readonly remainingMs: number;
}

type LetGo = (lease: KeptLease) => Promise<boolean>;

/** The keeper's side of a {@link HeldLease}. */
export class KeptLease implements HeldLease {
  readonly acquired = true;
  #lease: Lease;
  #released: Promise<boolean> | undefined;
  readonly #end = new AbortController();
  readonly #letGo: LetGo;

  constructor(lease: Lease, letGo: LetGo) {
    this.#lease = lease;
    this.#letGo = letGo;
  }

  get lease(): Lease {
    return this.#lease;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  release(): Promise<boolean> {
    return (this.#released ??= this.#refused() ? Promise.resolve(false) : this.#letGo(this));
  }

  /** Replies may overtake each other: only a later request extends, and nothing revives what was given up. */
  renew(sentAt: number): void {
    const next = renewed(this.#lease, sentAt);
    if (!this.signal.aborted && next.trustedUntil > this.#lease.trustedUntil) this.#lease = next;
  }

  lose(reason: LossReason): void {
    this.#end.abort(new LeaseLostError(this.#lease.resource, reason));
  }

  /** Whoever still works under this lease hears of it before the store does. */
  end(): void {
    this.#end.abort();
  }

  #refused(): boolean {
    const reason: unknown = this.signal.reason;
    return reason instanceof LeaseLostError && reason.reason === 'refused';
  }
}
