import { describe } from 'vitest';
import { accountContract } from './ledger/account.contract.js';
import { attemptContract } from './ledger/attempt.contract.js';
import { beginContract } from './ledger/begin.contract.js';
import { cancelContract } from './ledger/cancel.contract.js';
import { claimAllContract } from './ledger/claim-all.contract.js';
import { claimContract } from './ledger/claim.contract.js';
import { repeatedClaimContract } from './ledger/claim-repeated.contract.js';
import { deliveryContract } from './ledger/delivery.contract.js';
import { effectContract } from './ledger/effect.contract.js';
import { invariantsContract } from './ledger/invariants.contract.js';
import { overdueContract } from './ledger/overdue.contract.js';
import { overlapContract } from './ledger/overlap.contract.js';
import { pauseContract } from './ledger/pause.contract.js';
import { queueContract } from './ledger/queue.contract.js';
import { raceContract } from './ledger/race.contract.js';
import { retentionContract } from './ledger/retention.contract.js';
import { roomContract } from './ledger/room.contract.js';
import type { MakeLedgerHarness } from './ledger/stage.js';
import { stateTableContract } from './ledger/state-table.contract.js';
import { triggerContract } from './ledger/trigger.contract.js';
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
    claimAllContract(makeHarness);
    overlapContract(makeHarness);
    roomContract(makeHarness);
    pauseContract(makeHarness);
    triggerContract(makeHarness);
    accountContract(makeHarness);
    deliveryContract(makeHarness);
    overdueContract(makeHarness);
    beginContract(makeHarness);
    attemptContract(makeHarness);
    queueContract(makeHarness);
    cancelContract(makeHarness);
    effectContract(makeHarness);
    retentionContract(makeHarness);
    valuesContract(makeHarness);
    raceContract(makeHarness);
    invariantsContract(makeHarness, histories);
  });
}
