/* What workers ask the ledger for, and what it answers. */

import type { Fence } from '@fencepost/lease';
import type { RunState } from './run-state.js';
import type { UnresolvedEffect, Run } from './run.js';

/** `cancelled`: extended as well, but somebody wants the run to stop. */
export type HeartbeatReply = 'extended' | 'cancelled' | 'stale';

export interface BeginRequest {
  readonly runId: string;
  readonly nonce: string;
  readonly worker: string;
  /** Length of the run lease. */
  readonly ttlMs: number;
  readonly maxAttempts: number;
  /**
   * Of which ends of the run somebody is to be notified, from now on: a notification is written with each state of
   * {@link NotifiedState} whose name is in this text. The ledger takes no other notice of it. Empty, the default, leaves what
   * an earlier attempt asked for.
   */
  readonly notify?: string;
}

/** The proof an attempt shows with every call: only the current one changes its run. */
export interface AttemptRef {
  readonly runId: string;
  readonly fence: Fence;
  readonly nonce: string;
}

export type BeginReply =
  | { readonly verdict: 'begun'; readonly fence: Fence; readonly attempt: number; readonly run: Run }
  /** Another attempt is alive, or another run of the cron is; look again in `waitMs`. */
  | { readonly verdict: 'busy'; readonly waitMs: number }
  | { readonly verdict: 'not-due'; readonly waitMs: number }
  /** `exhausted`: this call ended the run, whose attempts are used up. Another call for the same run is told that it is over. */
  | { readonly verdict: 'terminal'; readonly state: RunState; readonly exhausted?: true }
  /** It waits for a person's answer: nothing to do for a worker. */
  | { readonly verdict: 'uncertain' }
  | { readonly verdict: 'missing' };

export interface EffectRequest {
  readonly name: string;
  /** What an effect is begun with whose outcome is unknown: `go` begins it again, `tell` writes nothing and says so. */
  readonly ifUnknown: 'go' | 'tell';
  /** A hash of what it sends; `null`, the default, where nobody says. */
  readonly payloadHash?: string | null;
}

/** An effect that an earlier attempt, or an earlier call of this one, began and never ended. */
export interface UnknownEffect {
  /** Epoch milliseconds of the store: when it was begun first, since it last failed. */
  readonly since: number;
  /** How long ago that was. */
  readonly ageMs: number;
  /** Of what was sent then. */
  readonly payloadHash: string | null;
}

export type BeginEffectReply =
  /** It is begun. `unknown`: an earlier attempt began it too and never said how it ended. */
  | { readonly verdict: 'go'; readonly unknown: UnknownEffect | null }
  /**
   * Nothing was written: it was begun before and the request says `tell`, or its hash is another than then (both given),
   * whatever the request says.
   */
  | { readonly verdict: 'unknown'; readonly unknown: UnknownEffect }
  /** Already done, by this or an earlier attempt; `result` is its recorded JSON. */
  | { readonly verdict: 'done'; readonly result: string; readonly payloadHash: string | null }
  | { readonly verdict: 'stale' };

/** How an effect ended. `failed`: it has not happened, and whoever begins it next begins anew. */
export type EffectOutcome =
  { readonly kind: 'done'; readonly result: string } | { readonly kind: 'failed'; readonly error: string };

/** What is recorded of the items of one `forEach`. */
export interface ItemRecord {
  readonly key: string;
  readonly state: 'begun' | 'done' | 'failed';
  readonly error: string | null;
  /** When it was begun first since it last failed, epoch milliseconds of the store. */
  readonly since: number;
}

export type ItemOutcome =
  | { readonly key: string; readonly kind: 'done' }
  | { readonly key: string; readonly kind: 'failed'; readonly error: string };

/** One step of a `forEach`: what has ended since the last one, and what is about to begin. Written together. */
export interface ItemsStep {
  readonly finished: readonly ItemOutcome[];
  readonly begun: readonly string[];
}

/**
 * `late`: the attempt is stale, and its *done* is kept as a fact all the same, because it was once allowed to begin.
 * `known`: another attempt's done was recorded before, and stands.
 */
export type FinishEffectReply = 'recorded' | 'late' | 'known' | 'stale';

export type AttemptOutcome =
  /** `result`: JSON of at most `MAX_RESULT_BYTES`, kept with the run. */
  | { readonly kind: 'succeeded'; readonly result?: string | undefined }
  | { readonly kind: 'failed'; readonly error: string }
  /** The handler stopped because it was told to. */
  | { readonly kind: 'cancelled'; readonly error: string }
  /** Nobody knows how an effect ended, and a person is to say. */
  | { readonly kind: 'uncertain'; readonly error: string; readonly unresolvedEffect: UnresolvedEffect }
  | { readonly kind: 'retry'; readonly error: string; readonly delayMs: number };
