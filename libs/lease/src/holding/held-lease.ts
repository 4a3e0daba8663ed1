import { parseDuration } from '../base/checked-options.js';
import { LeaseLostError, LeaseReleasedError } from '../base/errors.js';
import type { LossReason } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import { notifyWatcher } from '../store/lease-request.js';
import { stopAt, trustedUntil } from '../store/grant.js';
import type { Grant } from '../store/grant.js';
import type { AcquireRequest } from '../store/lease-store.js';

/** A lease that is renewed until it is released or lost. `await using lease = …` releases it at the end of the block. */
export interface Lease extends Grant, AsyncDisposable {
  /** What its renewals ask for, every third of it; {@link extend} changes it. */
  readonly ttlMs: number;
  /** Send it with every write, so that the written system can refuse a stale holder. Constant for the whole term. */
  readonly fence: Fence;
  /** When it was asked for, by this process's wall clock: for people. */
  readonly acquiredAt: Date;
  /** As of the last renewal. */
  readonly trustedUntil: number;
  /** Aborts when the right to act ends: with a {@link LeaseLostError} when it was lost, else because it was released. */
  readonly signal: AbortSignal;
  /**
   * Gives the lease another ttl: renews it with that at once, and from then on every third of it. A longer one counts as soon
   * as this resolves. A shorter one takes nothing from the store's present end: it counts for the renewals from now on.
   * @param ttl `'300ms'` to `'1h'`
   * @throws {SetupError} for a ttl that can't be
   * @throws {LeaseLostError} when the lease is lost, or the store no longer knows the term
   * @throws {LeaseReleasedError} after a release
   * @throws when the store could not be asked; the lease goes on with the ttl it had
   */
  extend(ttl: string | number): Promise<void>;
  /**
   * Ends the term, so that another holder gets in at once. Call it when the work has stopped, also after a loss.
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

export const NOTHING: NotAcquired = { acquired: false, remainingMs: 0 };

export type AcquireAnswer = { readonly acquired: true; readonly lease: Lease } | NotAcquired;

/** Callbacks of leases; one object for many of them. */
export interface LeaseHooks {
  readonly letGo: (lease: KeptLease) => Promise<boolean>;
  readonly extend: (lease: KeptLease, ttlMs: number) => Promise<void>;
  /** Called once, when the lease is lost: cheaper than a signal for a hundred thousand leases. */
  readonly onLost?: ((lease: Lease, error: LeaseLostError) => void) | undefined;
}

/** When a term was asked for, and for how long it may be held. */
export interface Hold {
  /** Monotonic milliseconds. */
  readonly since: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Default: for as long as it is renewed. */
  readonly maxHoldMs?: number | undefined;
}

/** One call to the store for leases. */
export interface AcquireCall {
  readonly requests: readonly AcquireRequest[];
  readonly hold: Hold;
  /** How often all leases of the keeper had been released when it was sent. */
  readonly generation: number;
  readonly hooks: LeaseHooks;
}

/** Until when a lease may be trusted, or all those of one session: their leases share it, so that a renewal moves one number. */
export interface Trust {
  ttlMs: number;
  /** Monotonic milliseconds. */
  until: number;
}

/** The keeper's side of a {@link Lease}. */
export class KeptLease implements Lease {
  readonly resource: string;
  readonly nonce: string;
  readonly holder: string;
  readonly fence: Fence;
  readonly hold: Hold;
  /** Changed by the keeper alone. */
  trust: Trust;
  #released: Promise<boolean> | undefined;
  #ended = false;
  #loss: LeaseLostError | undefined;
  /** Created on first use: most leases are released before their signal is read. */
  #end: AbortController | undefined;
  readonly #hooks: LeaseHooks;

  constructor(
    { resource, nonce, holder }: Pick<Grant, 'resource' | 'nonce' | 'holder'>,
    { trust, fence }: { readonly trust: Trust; readonly fence: Fence },
    { hold, hooks }: Pick<AcquireCall, 'hold' | 'hooks'>,
  ) {
    this.resource = resource;
    this.nonce = nonce;
    this.holder = holder;
    this.fence = fence;
    this.trust = trust;
    this.hold = hold;
    this.#hooks = hooks;
  }

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  get acquiredAt(): Date {
    return new Date(this.hold.at);
  }

  /** @throws {LeaseLostError} @throws {LeaseReleasedError} */
  throwIfOver(): void {
    if (this.#loss) throw this.#loss;
    if (this.#ended) throw new LeaseReleasedError(this.resource);
  }

  /** The monotonic instant at which it is lost: unless it is renewed before, or for good. */
  get endsAt(): number {
    return Math.min(stopAt(this), this.hold.since + (this.hold.maxHoldMs ?? Infinity));
  }

  get ttlMs(): number {
    return this.trust.ttlMs;
  }

  get trustedUntil(): number {
    return this.trust.until;
  }

  get signal(): AbortSignal {
    if (!this.#end) {
      this.#end = new AbortController();
      if (this.#ended) this.#end.abort(this.#loss);
    }
    return this.#end.signal;
  }

  release(): Promise<boolean> {
    return (this.#released ??= this.#loss?.reason === 'refused' ? Promise.resolve(false) : this.#hooks.letGo(this));
  }

  async extend(ttl: string | number): Promise<void> {
    await this.#hooks.extend(this, parseDuration(ttl));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /**
   * Replies may overtake each other: only a later end counts, and nothing revives a lease that was given up.
   * @param ttlMs what that renewal asked for; the lease may have another one by now
   */
  renew(sentAt: number, ttlMs: number): void {
    if (!this.#ended) this.trust.until = Math.max(this.trust.until, trustedUntil(sentAt, ttlMs));
  }

  lose(reason: LossReason): void {
    const loss = new LeaseLostError(this.resource, reason);
    if (this.#ended) return;
    this.#finish(loss);
    const { onLost } = this.#hooks;
    if (onLost) notifyWatcher((lease) => onLost(lease, loss), this);
  }

  /** Aborts the work under this lease before the store is asked. */
  end(): void {
    this.#finish(undefined);
  }

  #finish(loss: LeaseLostError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    // A session goes on without it.
    this.trust = { ttlMs: this.ttlMs, until: this.trustedUntil };
    this.#loss = loss;
    this.#end?.abort(loss);
  }
}
