import type { Fence } from '@fencepost/lease';
import { isTerminal, nextState, type RunEvent, type RunState } from './run-state.js';
import type { OverlapPolicy, Run, SkipRange } from './run.js';

/** A run that waits blocks its successor until it goes on: no end to it. */
export const BLOCKS_ALWAYS = Number.POSITIVE_INFINITY;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Fences name attempts here: no two attempts of a cron have the same. */
export interface MemoryEffect {
  /** The attempt that began it first. */
  readonly first: Fence;
  /** Every attempt that was allowed to begin it, with its nonce. */
  readonly begun: Map<Fence, string>;
  /** The result as JSON, and whose it is, once it is done. */
  done?: { readonly result: string; readonly by: Fence };
}

export interface MemoryRun {
  /** What callers get to see. */
  readonly record: Mutable<Run>;
  readonly claimNonce: string;
  readonly overlap: OverlapPolicy;
  readonly effects: Map<string, MemoryEffect>;
  deliveryNonce: string | null;
  attemptNonce: string | null;
  finished: { readonly nonce: string; readonly state: RunState } | null;
  leaseUntil: number;
  leaseMs: number;
  lookAt: number | null;
}

export interface MemoryCron {
  fence: Fence;
  term: string;
  cursor: number | null;
  generation: number;
  refusals: number;
  runFence: Fence;
  recordNonce: string | null;
  readonly skips: SkipRange[];
  readonly runs: Map<string, MemoryRun>;
}

export function newCron(noFence: Fence): MemoryCron {
  return {
    fence: noFence,
    term: '',
    cursor: null,
    generation: 0,
    refusals: 0,
    runFence: noFence,
    recordNonce: null,
    skips: [],
    runs: new Map(),
  };
}

/**
 * Takes a run along the state table.
 * @throws {Error} when the table has no such step: a bug of this ledger, never of its caller
 */
export function move({ record }: MemoryRun, event: RunEvent): void {
  const to = nextState(record.state, event);
  if (to === null) {
    throw new Error(`The state table has no way from "${record.state}" by "${event}" (run ${record.id}).`);
  }
  record.state = to;
}

/** Whether a worker holds the run. */
export function isAlive({ record, leaseUntil }: MemoryRun, now: number): boolean {
  return record.state === 'running' && leaseUntil > now;
}

/** Whether the run stands in a successor's way: it waits for a worker, or has one. */
export function blocks({ record, leaseUntil }: MemoryRun, now: number): boolean {
  return !isTerminal(record.state) && record.state !== 'orphaned' && leaseUntil > now;
}

/** What a caller gets is a copy: a record that changes behind its back would be another store than Redis. */
export function snapshot({ record }: MemoryRun): Run {
  return structuredClone(record);
}
