import { isTerminal, nextState, type RunEvent, type RunState } from '@fencepost/ledger/run';
import type { Run } from '@fencepost/ledger/run';
import type { LedgerBranch } from './branches.js';
import type { KnownCron, KnownRun } from './known.js';
import { demand } from './violation.js';

/** What one kind of call may do to the run it is about, and to the other runs of the cron. */
export interface Steps {
  readonly own: readonly RunEvent[];
  readonly others: readonly RunEvent[];
}

export const NO_STEPS: Steps = { own: [], others: [] };

export const STEPS: Readonly<Record<string, Steps>> = {
  claim: { own: [], others: ['supersede', 'cancel'] },
  trigger: { own: [], others: ['supersede', 'cancel'] },
  confirm: { own: ['confirm'], others: [] },
  redeliver: { own: ['orphan', 'cancel', 'expire'], others: [] },
  begin: { own: ['begin', 'exhaust', 'cancel', 'expire'], others: ['cancel'] },
  finish: { own: ['retry', 'succeed', 'fail', 'need-operator', 'cancel'], others: [] },
  cancel: { own: ['cancel'], others: [] },
  resolve: { own: ['answer', 'give-up'], others: [] },
};

interface Step {
  readonly cron: KnownCron;
  readonly run: KnownRun;
  /** What the ledger has now, `null` for nothing. */
  readonly record: Run | null;
  readonly events: readonly RunEvent[];
}

/** I6 and the state table: what the call made of a run is a step that it may take. Takes the step over. */
export function followStep({ cron, run, record, events }: Step): LedgerBranch | null {
  const { id, state: before } = run;
  demand(record !== null || isTerminal(before), 'I2', () => `the ledger forgot ${id}, which is ${before}`);
  if (record === null) return close(cron, run);
  const { state: after } = record;
  if (after === before) {
    demand(record.attempt === run.attempt, 'I10', () => `${id} is at attempt ${record.attempt}, not ${run.attempt}`);
    return noteCancel(run, record);
  }
  demand(!isTerminal(before), 'I6', () => `${id} was ${before} and became ${after}`);
  const known = events.some((event) => nextState(before, event) === after);
  demand(known, 'table', () => `${id} went from ${before} to ${after}, by ${events.join(' or ') || 'nothing'}`);
  run.state = after;
  noteCancel(run, record);
  if (isTerminal(after)) close(cron, run);
  return branchOf(before, record);
}

function close(cron: KnownCron, { id }: KnownRun): null {
  cron.open.delete(id);
  return null;
}

/** Whoever is told to stop has no longer than its grace. */
function noteCancel(run: KnownRun, { cancel }: Run): null {
  run.cancelUntil = cancel?.until ?? Infinity;
  if (run.leaseUntil !== null) run.leaseUntil = Math.min(run.leaseUntil, run.cancelUntil);
  return null;
}

function branchOf(before: RunState, { state, skipped, cancel }: Run): LedgerBranch | null {
  if (skipped === 'superseded') return 'run: superseded';
  if (skipped === 'misfire') return 'run: expired';
  if (state === 'orphaned') return 'redeliver: orphaned';
  if (state !== 'cancelled') return null;
  return cancel?.by.startsWith('replaced by') ? 'run: replaced' : 'run: cancelled';
}
