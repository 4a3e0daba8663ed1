import { afterEach, beforeEach, describe, it } from 'vitest';
import { leaseStoreContract as contract, type LeaseStoreHarness } from '@fencepost/lease/testing';

import { linearLeases, type LinearOptions } from './linear-leases.contract.js';

export type { LeaseStoreHarness };

/** The suite that is part of the package, run by Vitest, and histories of several clients, of which the nightly proof records more. */
export function leaseStoreContract(
  name: string,
  makeHarness: () => Promise<LeaseStoreHarness>,
  options: LinearOptions = {},
): void {
  contract(name, makeHarness, { describe, it, beforeEach, afterEach });
  describe(`${name} is linearizable`, () => {
    linearLeases(makeHarness, options);
  });
}
