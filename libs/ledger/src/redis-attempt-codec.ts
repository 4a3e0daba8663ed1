import { FenceExhaustedError } from '@fencepost/lease';
import { cronOfRun } from './occurrence.js';
import { decodeBegun, type BegunRow } from './begun-run-codec.js';
import type { AttemptOutcome, BeginReply, BeginRequest } from './ledger.js';
import type { RunState } from './run-state.js';

type Row = readonly unknown[];

/**
 * What `begin-attempts` answered of one run. The record comes with the reply: read by a second command it could be from
 * before, when the script has to be sent again to a server that no longer knows it.
 * @throws {FenceExhaustedError}
 */
export function decodeBegin(reply: string | Row, request: Pick<BeginRequest, 'runId' | 'worker'>): BeginReply {
  const [word, detail] = typeof reply === 'string' ? [reply] : reply;
  switch (word) {
    case 'BEGUN': {
      const run = decodeBegun((reply as Row).slice(1) as BegunRow, request);
      if (run === null) break;
      return { verdict: 'begun', fence: run.fence, attempt: run.attempt, run };
    }
    case 'BUSY':
      return { verdict: 'busy', waitMs: Number(detail) };
    case 'NOT_DUE':
      return { verdict: 'not-due', waitMs: Number(detail) };
    case 'TERMINAL':
      return { verdict: 'terminal', state: detail as RunState };
    case 'UNCERTAIN':
      return { verdict: 'uncertain' };
    case 'MISSING':
      return { verdict: 'missing' };
    case 'FENCE_EXHAUSTED':
      throw new FenceExhaustedError(cronOfRun(request.runId));
  }
  throw new Error(`Expected a reply of begin-attempts, got ${JSON.stringify(reply)}.`);
}

/** The end of an attempt, as `finish-attempts.lua` reads it. */
export function encodeOutcome(outcome: AttemptOutcome): (string | number)[] {
  if (outcome.kind === 'succeeded') return [outcome.kind];
  const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
  const question = outcome.kind === 'uncertain' ? JSON.stringify(outcome.question) : '';
  return [outcome.kind, outcome.error, delayMs, question];
}
