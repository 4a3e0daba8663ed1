import type { Lease } from './held-lease.js';

/** Leases that were taken together. Losing one is losing the right to act. */
export class LeaseGroup implements AsyncDisposable {
  /** Aborts when the first of them is lost or released. */
  readonly signal: AbortSignal;

  constructor(readonly leases: readonly Lease[]) {
    this.signal = AbortSignal.any(leases.map(({ signal }) => signal));
  }

  /**
   * Ends all terms.
   * @returns for each whether it was still ours
   * @throws when the store could not be asked; the terms then end by themselves within their ttl
   */
  release(): Promise<boolean[]> {
    return Promise.all(this.leases.map((lease) => lease.release()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}
