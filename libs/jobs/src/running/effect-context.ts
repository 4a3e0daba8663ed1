import type { Fence } from '@fencepost/lease';

/** What an effect is given to hand on to the system it changes. */
export interface EffectContext {
  /** The run's current fence: a sink that keeps the largest one it has seen can refuse a stale writer. */
  readonly fence: Fence;
  /** `<run id>/<effect name>`, the same in every attempt: a sink that remembers it can refuse a repetition. */
  readonly idempotencyKey: string;
  /** Aborts when the attempt may not go on, and when the effect's own `timeout` has passed. */
  readonly signal: AbortSignal;
}

/** What a lookup is told of the effect whose outcome nobody knows. */
export interface LookupContext extends EffectContext {
  /** When it was begun first since it last failed, by the clock of the store. */
  readonly since: Date;
  /** How long ago that was, milliseconds. */
  readonly ageMs: number;
}

/** What the provider says: it has happened and brought this result, it has not happened, or it doesn't know either. */
export type LookupAnswer<T> = 'not-done' | 'unknown' | { readonly done: T };

/** Asks the provider. One that throws settles nothing: the attempt fails, and the next one asks again. */
export type Lookup<T> = (about: LookupContext) => Promise<LookupAnswer<T>> | LookupAnswer<T>;

/**
 * What to do about an effect that was begun and never said how it ended. `retry`: once more, under the same idempotency
 * key. `ask`: the run becomes `uncertain`, and a person says. A function: the provider is asked first.
 */
export type IfUnknown<T> = 'retry' | 'ask' | Lookup<T>;
