import type { RunState, UnresolvedEffect } from '@fencepost/ledger/run';

/** What the watch knows by itself of an effect, or of one item. */
export interface KnownEffect {
  state: 'begun' | 'done' | 'failed';
  /** The attempt that began it first since it last failed. */
  first: number;
  result: string | null;
}

/** What was promised of a run: by the replies, not by the records of the ledger. */
export interface KnownRun {
  readonly id: string;
  state: RunState;
  attempt: number;
  /** How many runs of its cron may go on at once when it begins. */
  capacity: number;
  /** How often a person answered: each is worth one attempt more. */
  answers: number;
  /** The current attempt's, or the last one's. */
  fence: number | null;
  nonce: string | null;
  /** When its lease ends; `null` where a loss of history leaves that open. */
  leaseUntil: number | null;
  leaseMs: number;
  /** By when it was told to stop. */
  cancelUntil: number;
  unresolvedEffect: UnresolvedEffect | null;
  delivery: number;
  deliveryNonce: string | null;
  /** Every attempt there ever was, by its fence. */
  readonly attempts: Map<number, string>;
  /** The nonces of the attempts that ended it, each with the state it was told. */
  readonly finished: Map<string, RunState>;
  readonly effects: Map<string, KnownEffect>;
  readonly items: Map<string, Map<string, KnownEffect>>;
  /** Which attempts were let into which effect: their late word counts. */
  readonly allowed: Set<string>;
  /** Those of which a loss of history leaves open whether the ledger still knows. */
  readonly perhaps: Set<string>;
}

export interface KnownCron {
  readonly name: string;
  fence: number;
  /** Of which term the fence was; `null` where a loss of history leaves that open. */
  term: string | null;
  cursor: number | null;
  generation: number;
  /** The largest of all attempts, also of those the ledger has lost: a sink has seen them. */
  runFence: number;
  paused: { readonly until: number | null } | null;
  /** The nonces of all claims that were accepted. */
  readonly decisions: Set<string>;
  readonly runs: Map<string, KnownRun>;
  /** The runs that are not over, and those that are perhaps about to be made. */
  readonly open: Set<string>;
}

export function newCron(name: string): KnownCron {
  return {
    ...{ name, fence: 0, term: '', cursor: null, generation: 0, runFence: 0, paused: null },
    ...{ decisions: new Set(), runs: new Map(), open: new Set() },
  };
}

export function newRun(id: string, state: RunState): KnownRun {
  return {
    ...{ id, state, attempt: 0, capacity: Infinity, answers: 0, fence: null, nonce: null },
    ...{ leaseUntil: 0, leaseMs: 0, cancelUntil: Infinity, unresolvedEffect: null },
    ...{ delivery: state === 'skipped' ? 0 : 1, deliveryNonce: null },
    ...{ attempts: new Map(), finished: new Map(), effects: new Map(), items: new Map(), allowed: new Set() },
    perhaps: new Set(),
  };
}

export function isPaused({ paused }: KnownCron, now: number): boolean {
  return paused !== null && (paused.until ?? Infinity) > now;
}

/** Whether this attempt is the one that may change the run. */
export function isCurrent(run: KnownRun | undefined, attempt: { fence: number; nonce: string }): boolean {
  if (run?.state !== 'running' || run.fence !== attempt.fence) return false;
  // Whose it is may be open after a loss of history.
  return run.nonce === null || run.nonce === attempt.nonce;
}

/** Whether it has expired for sure: what a loss of history leaves open has not. */
export function hasExpired({ leaseUntil }: KnownRun, now: number): boolean {
  return leaseUntil !== null && leaseUntil <= now;
}

type Who = { readonly fence: number; readonly nonce: string };

export function letIn(run: KnownRun, effect: string, who: Who): void {
  run.allowed.add(wordOf(effect, who));
}

export function wasLetIn(run: KnownRun, effect: string, who: Who): boolean {
  return run.allowed.has(wordOf(effect, who));
}

export function mayBeLetIn(run: KnownRun, effect: string, who: Who): boolean {
  return wasLetIn(run, effect, who) || run.perhaps.has(wordOf(effect, who));
}

function wordOf(effect: string, { fence, nonce }: Who): string {
  return `${effect} ${fence} ${nonce}`;
}
