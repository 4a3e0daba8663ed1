import { afterEach, beforeEach, describe, it } from 'vitest';
import { leaseStoreContract as contract, type LeaseStoreHarness } from '@fencepost/lease/testing';

export type { LeaseStoreHarness };

/** The suite that is part of the package, run by Vitest. */
export function leaseStoreContract(name: string, makeHarness: () => Promise<LeaseStoreHarness>): void {
  contract(name, makeHarness, { describe, it, beforeEach, afterEach });
}
