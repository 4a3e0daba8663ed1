import type { CancelReply, OperatorOrder } from './ledger.js';
import { endInMemory } from './memory-attempt.js';
import { isAlive, noteAction, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { isTerminal } from './run-state.js';

interface CancelOrder extends OperatorOrder {
  readonly graceMs: number;
  readonly now: number;
}

/** `cancel-run.lua`, line for line. */
export function cancelInMemory(cron: MemoryCron, run: MemoryRun | undefined, order: CancelOrder): CancelReply {
  if (!run) return { verdict: 'missing' };
  const { record } = run;
  if (record.state === 'cancelled') return { verdict: 'cancelled' };
  if (isTerminal(record.state)) return { verdict: 'terminal', state: record.state };
  const { by, reason, now } = order;
  const alive = isAlive(run, now);
  const until = alive ? now + order.graceMs : now;
  if (alive && record.cancel && record.cancel.until <= until) {
    return { verdict: 'cancelling', until: record.cancel.until };
  }
  if (alive) tellToStop(run, { by, at: now, until });
  else {
    record.cancel ??= { by, at: now, until };
    endInMemory(run, 'cancel', now);
  }
  noteAction(cron, { at: now, action: 'cancel', by, reason, runId: record.id });
  return alive ? { verdict: 'cancelling', until } : { verdict: 'cancelled' };
}

/** The run lease ends with the grace: everything that waits for the end of a worker sees to the rest. */
function tellToStop(run: MemoryRun, { by, at, until }: { by: string; at: number; until: number }): void {
  run.record.cancel = { ...(run.record.cancel ?? { at, by }), until };
  run.leaseUntil = run.lookAt = Math.min(run.leaseUntil, until);
}
