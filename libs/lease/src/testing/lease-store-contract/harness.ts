import type { LeaseStore } from '../../store/lease-store.js';

/** What a store's spec has to offer, so that the contract can drive it. */
export interface LeaseStoreHarness {
  /** Empty, and nobody else's. */
  readonly store: LeaseStore;
  /** Lets the store's time pass until nobody holds `resource`: by its own expiry, never by deleting. */
  untilFree(resource: string): Promise<void>;
  /**
   * Makes the store's wall clock go back by `ms`, as far as the lease on `resource` is concerned. Left out where expiry
   * doesn't follow a wall clock: the one claim about it is skipped then.
   */
  clockGoesBack?(resource: string, ms: number): Promise<void>;
  /** Makes the store forget everything, fences included. */
  lose(): Promise<void>;
  close(): Promise<void>;
  /** By how many milliseconds a term may outlast its ttl, where a store rounds up; 0 by default. Never less than the ttl. */
  readonly coarsenessMs?: number;
  /** The ttl of terms that are meant to end, in milliseconds; 50 by default. */
  readonly shortTtlMs?: number;
}

type Register = (name: string, body: () => void) => unknown;
type RegisterAsync = (name: string, body: (...context: unknown[]) => Promise<void>) => unknown;
type Hook = (body: () => Promise<void>) => unknown;

/** The functions of a test runner: those of Vitest, Jest, Mocha and `node:test` fit as they are. */
export interface TestRunner {
  readonly describe: Register;
  readonly it: RegisterAsync;
  readonly beforeEach: Hook;
  readonly afterEach: Hook;
}
