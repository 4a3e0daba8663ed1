import type { Delivery } from './ledger.js';
import type { LedgerTiming } from './ledger-timing.js';
import { giveUpInMemory } from './memory-attempt.js';
import { isAlive, move, type MemoryRun } from './memory-ledger-record.js';
import { isTerminal } from './run-state.js';

/** What the queue is given. */
export function deliveryOfRun({ record: { id, delivery, priority } }: MemoryRun): Delivery {
  return { runId: id, delivery, ...(priority === null ? {} : { priority }) };
}

/** `confirm-runs.lua` for one run. */
export function confirmInMemory(run: MemoryRun, now: number, { sweepMs }: LedgerTiming): void {
  if (run.record.state !== 'claimed') return;
  move(run, 'confirm');
  run.record.enqueuedAt = now;
  run.lookAt = Math.max(now, run.record.notBefore ?? now) + sweepMs;
}

interface Redelivery {
  /** The last delivery the caller knows. */
  readonly last: number;
  readonly nonce: string;
  readonly now: number;
}

/** `redeliver-run.lua`, line for line. */
export function redeliverInMemory(run: MemoryRun, { last, nonce, now }: Redelivery): Delivery | null {
  const { record } = run;
  if (run.deliveryNonce === nonce) return deliveryOfRun(run);
  if (isTerminal(record.state) || record.state === 'uncertain') return null;
  if (isAlive(run, now) || giveUpInMemory(run, now) || record.delivery !== last) return null;
  if (record.state === 'running') move(run, 'orphan');
  run.deliveryNonce = nonce;
  record.delivery += 1;
  return deliveryOfRun(run);
}
