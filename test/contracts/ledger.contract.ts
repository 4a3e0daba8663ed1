import { describe } from 'vitest';
import { attemptContract } from './ledger/attempt.contract.js';
import { beginContract } from './ledger/begin.contract.js';
import { claimContract } from './ledger/claim.contract.js';
import { repeatedClaimContract } from './ledger/claim-repeated.contract.js';
import { deliveryContract } from './ledger/delivery.contract.js';
import { effectContract } from './ledger/effect.contract.js';
import { invariantsContract } from './ledger/invariants.contract.js';
import { overlapContract } from './ledger/overlap.contract.js';
import { raceContract } from './ledger/race.contract.js';
import { retentionContract } from './ledger/retention.contract.js';
import type { MakeLedgerHarness } from './ledger/stage.js';
import { stateTableContract } from './ledger/state-table.contract.js';
import { valuesContract } from './ledger/values.contract.js';

export type { LedgerHarness, MakeLedgerHarness } from './ledger/stage.js';

export interface LedgerContractOptions {
  /** How many random histories: as many as the store is quick. */
  readonly histories: number;
}

/** The one suite that every ledger passes. */
export function ledgerContract(
  name: string,
  makeHarness: MakeLedgerHarness,
  { histories }: LedgerContractOptions,
): void {
  describe(`${name} keeps the ledger contract`, () => {
    stateTableContract(makeHarness);
    claimContract(makeHarness);
    repeatedClaimContract(makeHarness);
    overlapContract(makeHarness);
    deliveryContract(makeHarness);
    beginContract(makeHarness);
    attemptContract(makeHarness);
    effectContract(makeHarness);
    retentionContract(makeHarness);
    valuesContract(makeHarness);
    raceContract(makeHarness);
    invariantsContract(makeHarness, histories);
  });
}
