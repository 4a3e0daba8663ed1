import type { Fence } from '@fencepost/lease';

/** What an effect passes on to the system that it changes. */
export interface EffectContext {
  /** The fence of the attempt: a sink that keeps the largest one can refuse a stale writer. */
  readonly fence: Fence;
  /** `<run id>/<effect name>`, the same in every attempt: a sink that remembers it can refuse a duplicate. */
  readonly idempotencyKey: string;
  /** Aborts when the attempt must stop, or when the `timeout` of the effect has passed. */
  readonly signal: AbortSignal;
}

/** Passed to the lookup of an unknown effect. */
export interface LookupContext extends EffectContext {
  /** When it was first begun since its last recorded failure, by the clock of the store. */
  readonly since: Date;
  /** How long ago that was, milliseconds. */
  readonly ageMs: number;
}

/** The answer of the provider: it happened with this result, it did not happen, or unknown. */
export type LookupAnswer<T> = 'not-done' | 'unknown' | { readonly done: T };

/** Asks the provider. If it throws, the attempt fails and the next one asks again. */
export type Lookup<T> = (about: LookupContext) => Promise<LookupAnswer<T>> | LookupAnswer<T>;

/**
 * What to do about an unknown effect. `retry`: execute it again under the same idempotency key. `ask`: the run becomes
 * `uncertain` until an operator resolves it. A function: ask the provider first.
 */
export type IfUnknown<T> = 'retry' | 'ask' | Lookup<T>;
