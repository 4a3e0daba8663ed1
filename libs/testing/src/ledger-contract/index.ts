import { describe } from 'vitest';
import { accountContract } from './account.contract.js';
import { attemptContract } from './attempt.contract.js';
import { beginContract } from './begin.contract.js';
import { cancelContract } from './cancel.contract.js';
import { claimAllContract } from './claim-all.contract.js';
import { claimContract } from './claim.contract.js';
import { repeatedClaimContract } from './claim-repeated.contract.js';
import { deliveryContract } from './delivery.contract.js';
import { effectContract } from './effect.contract.js';
import { effectRecordsContract } from './effect-records.contract.js';
import { unknownEffectContract } from './effect-unknown.contract.js';
import { invariantsContract } from './invariants.contract.js';
import { itemsContract } from './items.contract.js';
import { notificationsContract } from './notifications.contract.js';
import { overdueContract } from './overdue.contract.js';
import { overlapContract } from './overlap.contract.js';
import { pauseContract } from './pause.contract.js';
import { queueContract } from './queue.contract.js';
import { raceContract } from './race.contract.js';
import { rerunContract } from './rerun.contract.js';
import { resolveContract } from './resolve.contract.js';
import { resultsContract } from './results.contract.js';
import { retentionContract } from './retention.contract.js';
import { capacityContract } from './capacity.contract.js';
import type { MakeLedgerHarness } from './stage.js';
import { staleAnswerContract } from './stale-answer.contract.js';
import { stateTableContract } from './state-table.contract.js';
import { triggerContract } from './trigger.contract.js';
import { triggerLaterContract } from './trigger-later.contract.js';
import { troubledContract } from './troubled.contract.js';
import { uncertainContract } from './uncertain.contract.js';
import { usedIdsContract } from './used-ids.contract.js';
import { unstartedContract } from './unstarted.contract.js';
import { valuesContract } from './values.contract.js';

export type { LedgerHarness, MakeLedgerHarness } from './stage.js';

export interface LedgerContractOptions {
  /** How many random histories: as many as the store is quick. */
  readonly histories: number;
}

/**
 * The one suite that every ledger passes, as tests of vitest. To be called in a spec, with what opens a ledger for each test.
 *
 * Some of it comes by chance (fast-check): a failure prints the seed that repeats it.
 */
export function ledgerContract(
  name: string,
  makeHarness: MakeLedgerHarness,
  { histories }: LedgerContractOptions,
): void {
  describe(`${name} keeps the ledger contract`, () => {
    acceptingContracts(makeHarness);
    attemptContracts(makeHarness);
    historyContracts(makeHarness);
    invariantsContract(makeHarness, histories);
  });
}

/** Which runs there are, and what hands them over. */
function acceptingContracts(makeHarness: MakeLedgerHarness): void {
  stateTableContract(makeHarness);
  claimContract(makeHarness);
  repeatedClaimContract(makeHarness);
  claimAllContract(makeHarness);
  overlapContract(makeHarness);
  capacityContract(makeHarness);
  pauseContract(makeHarness);
  triggerContract(makeHarness);
  triggerLaterContract(makeHarness);
  rerunContract(makeHarness);
  accountContract(makeHarness);
  deliveryContract(makeHarness);
  overdueContract(makeHarness);
  unstartedContract(makeHarness);
}

/** What workers and operators make of them. */
function attemptContracts(makeHarness: MakeLedgerHarness): void {
  beginContract(makeHarness);
  attemptContract(makeHarness);
  queueContract(makeHarness);
  cancelContract(makeHarness);
  effectContract(makeHarness);
  unknownEffectContract(makeHarness);
  effectRecordsContract(makeHarness);
  itemsContract(makeHarness);
  uncertainContract(makeHarness);
  resolveContract(makeHarness);
  staleAnswerContract(makeHarness);
}

/** What is told and kept of them. */
function historyContracts(makeHarness: MakeLedgerHarness): void {
  notificationsContract(makeHarness);
  troubledContract(makeHarness);
  resultsContract(makeHarness);
  retentionContract(makeHarness);
  usedIdsContract(makeHarness);
  valuesContract(makeHarness);
  raceContract(makeHarness);
}
