import type { Settled } from './settle.js';
import { invariantOf, type Outcome } from './world.js';

/** What is left of a world when it is over: plain values, so that a process can tell them to another. */
export interface Summary {
  readonly seed: number;
  readonly violation: { readonly invariant: string; readonly message: string; readonly stack: string } | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly controlDuplicates: number;
  readonly calls: number;
  readonly refusedOrders: number;
  readonly silentChanges: number;
  readonly untoldChanges: number;
  /** `null` for a world that did not come to its end. */
  readonly settled: Settled | null;
  readonly hash: string;
}

export function summaryOf({
  seed,
  violation,
  sometimes,
  sinks,
  calls,
  refusedOrders,
  silentChanges,
  untoldChanges,
  settled,
  hash,
}: Outcome): Summary {
  const { message = '', stack = '' } = violation ?? {};
  const invariant = invariantOf({ violation });
  return {
    ...{ seed, calls, refusedOrders, silentChanges, untoldChanges, settled, hash, counts: sometimes.counts },
    violation: invariant === null ? null : { invariant, message, stack },
    controlDuplicates: sinks.verdict().controlDuplicates,
  };
}
