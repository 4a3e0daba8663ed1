import { DEFAULT_CANCEL_GRACE_MS, MAX_QUEUE_LENGTH, type BlockedReason, type OverlapPolicy } from '../base/run.js';
import { DEFAULT_MAX_CONCURRENCY } from '../base/ledger-request.js';
import { endInMemory } from './memory-attempt.js';
import { BLOCKS_ALWAYS, blocks, inOrder, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';

interface Policy {
  readonly overlap: OverlapPolicy;
  readonly maxConcurrency?: number;
  readonly cancelGraceMs?: number;
}

/** What becomes of a new run, and how many open ones there are too many. */
interface OverlapVerdict {
  readonly skipped: BlockedReason | null;
  readonly surplus: number;
}

/** `free-capacity.lua`, line for line. */
export function overlapOf(cron: MemoryCron, policy: Policy, now: number): OverlapVerdict {
  const { overlap, maxConcurrency = DEFAULT_MAX_CONCURRENCY } = policy;
  if (overlap === 'allow') return { skipped: null, surplus: 0 };
  const open = [...cron.runs.values()].filter((run) => blocks(run, now));
  const surplus = open.length - maxConcurrency + 1;
  if (surplus <= 0) return { skipped: null, surplus: 0 };
  const waiting = open.filter(({ leaseUntil }) => leaseUntil === BLOCKS_ALWAYS);
  const isFull = overlap === 'skip' || (overlap === 'queue-all' && waiting.length >= MAX_QUEUE_LENGTH);
  // Nothing overlaps with a run that no worker can execute.
  const why = open.find(({ record }) => record.waiting !== null)?.record.waiting ?? 'overlap';
  return { skipped: isFull ? why : null, surplus };
}

interface Newcomer {
  readonly id: string;
  readonly policy: Policy;
  readonly surplus: number;
  readonly now: number;
}

export function freeCapacity(cron: MemoryCron, newcomer: Newcomer): void {
  const { id, policy, surplus, now } = newcomer;
  if (surplus <= 0) return;
  const inTheWay = inOrder(cron.runs.values(), (run) => run.record.id !== id && blocks(run, now));
  if (policy.overlap === 'replace') for (const run of inTheWay.slice(0, surplus)) replace(run, newcomer);
  if (policy.overlap !== 'queue-one') return;
  const waiting = inTheWay.filter(isNew);
  const places = (policy.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY) - (inTheWay.length - waiting.length);
  for (const run of waiting.slice(Math.max(0, places))) supersede(run, now);
}

function replace(run: MemoryRun, { id, policy, now }: Newcomer): void {
  const { record } = run;
  if (isNew(run)) return supersede(run, now);
  const by = `replaced by ${id}`;
  if (record.state !== 'running') {
    record.cancel = { at: now, by, until: now };
    return endInMemory(run, 'cancel', now);
  }
  if (record.cancel) return;
  const until = now + (policy.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS);
  record.cancel = { at: now, by, until };
  run.leaseUntil = run.lookAt = Math.min(run.leaseUntil, until);
}

/** It waits for its first attempt. */
function isNew({ record }: MemoryRun): boolean {
  return record.state !== 'running' && record.attempt === 0;
}

function supersede(run: MemoryRun, now: number): void {
  endInMemory(run, 'supersede', now);
  run.record.skipped = 'superseded';
}
