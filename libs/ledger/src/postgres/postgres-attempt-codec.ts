import { FenceExhaustedError, formatFence } from '@fencepost/lease';
import { decodeBegun, type BegunRow } from '../base/begun-run-codec.js';
import type { AttemptOutcome, AttemptRef, BeginReply, BeginRequest } from '../base/ledger.js';
import { cronOfRun } from '../base/occurrence.js';
import { storable } from './postgres-value.js';

/** What `begin_attempts` answers of one request. */
export type BeginRow =
  BegunRow | Exclude<BeginReply, { readonly verdict: 'begun' }> | { readonly verdict: 'fence-exhausted' };

/** What the functions compare with the run. */
export function proofOf({ runId, fence, nonce }: AttemptRef): object {
  return { cron: cronOfRun(runId), runId, fence: formatFence(fence), nonce };
}

/** A request of `finish_attempts`; the unresolved effect is its `question`, as the column is. */
export function encodeFinish(attempt: AttemptRef, outcome: AttemptOutcome): object {
  const proof = proofOf(attempt);
  if (outcome.kind !== 'uncertain') return { ...outcome, ...proof };
  const { unresolvedEffect, ...rest } = outcome;
  return { ...rest, ...proof, question: unresolvedEffect };
}

/** @throws {FenceExhaustedError} */
export function decodeBegin(row: BeginRow, request: BeginRequest): BeginReply {
  if ('verdict' in row) {
    if (row.verdict === 'fence-exhausted') throw new FenceExhaustedError(cronOfRun(request.runId));
    return row;
  }
  // As they are recorded.
  const [words, ...texts] = row;
  const run = decodeBegun([wordsOf(String(words)), ...texts], {
    runId: storable(request.runId),
    worker: storable(request.worker),
  });
  if (run === null) throw new Error(`Expected the record of a begun run, got ${JSON.stringify(row)}.`);
  return { verdict: 'begun', fence: run.fence, attempt: run.attempt, run };
}

/** Of the text of a row, none of whose values is quoted. */
function wordsOf(text: string): string {
  return text.slice(1, -1).replaceAll(',', ' ').replaceAll(';', ',');
}
