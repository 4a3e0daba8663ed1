import { LeaseLostError } from '../errors.js';
import type { LossReason } from '../errors.js';
import type { Fence } from '../fence.js';
import { trustedUntil } from './lease.js';
import type { Grant } from './lease.js';

/** A lease that is renewed until it is released or lost. `await using lease = …` releases it at the end of the block. */
export interface Lease extends Grant, AsyncDisposable {
  /** Goes into every write it covers, so that who is written to can refuse a stale one. The same for the whole term. */
  readonly fence: Fence;
  /** As of the last renewal. */
  readonly trustedUntil: number;
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

export type AcquireAnswer = { readonly acquired: true; readonly lease: Lease } | NotAcquired;

type LetGo = (lease: KeptLease) => Promise<boolean>;

/** The keeper's side of a {@link Lease}. */
export class KeptLease implements Lease {
  readonly resource: string;
  readonly nonce: string;
  readonly holder: string;
  readonly fence: Fence;
  readonly ttlMs: number;
  #trustedUntil: number;
  #released: Promise<boolean> | undefined;
  #ended = false;
  #loss: LeaseLostError | undefined;
  /** Made when somebody asks for the signal: most leases are released before anybody does. */
  #end: AbortController | undefined;
  readonly #letGo: LetGo;

  constructor(
    { resource, nonce, holder, fence, ttlMs, trustedUntil: until }: Grant,
    /** Monotonic milliseconds at which the term was asked for. */
    readonly since: number,
    letGo: LetGo,
  ) {
    this.resource = resource;
    this.nonce = nonce;
    this.holder = holder;
    this.fence = fence;
    this.ttlMs = ttlMs;
    this.#trustedUntil = until;
    this.#letGo = letGo;
  }

  get trustedUntil(): number {
    return this.#trustedUntil;
  }

  get signal(): AbortSignal {
    if (!this.#end) {
      this.#end = new AbortController();
      if (this.#ended) this.#end.abort(this.#loss);
    }
    return this.#end.signal;
  }

  release(): Promise<boolean> {
    return (this.#released ??= this.#loss?.reason === 'refused' ? Promise.resolve(false) : this.#letGo(this));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Replies may overtake each other: only a later request extends, and nothing revives what was given up. */
  renew(sentAt: number): void {
    if (!this.#ended) this.#trustedUntil = Math.max(this.#trustedUntil, trustedUntil(sentAt, this.ttlMs));
  }

  lose(reason: LossReason): void {
    this.#finish(new LeaseLostError(this.resource, reason));
  }

  /** Whoever still works under this lease hears of it before the store does. */
  end(): void {
    this.#finish(undefined);
  }

  #finish(loss: LeaseLostError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#loss = loss;
    this.#end?.abort(loss);
  }
}
