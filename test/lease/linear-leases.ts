import type { Model, Operation } from '../support/linearizability.js';

export type LeaseInput =
  | { readonly ask: 'acquire' | 'renew' | 'release'; readonly nonce: string; readonly id: number }
  /** The term that operation `of` has begun or extended runs out. */
  | { readonly ask: 'expire'; readonly of: number };

export type LeaseOutput = { readonly fence: number } | 'busy' | boolean;
export type LeaseOperation = Operation<LeaseInput, LeaseOutput>;

export interface LeaseState {
  readonly nonce: string | null;
  /** Of the present term; `null` where the reply that told it got lost. */
  readonly fence: number | null;
  /** The largest that is known to have been issued. */
  readonly last: number;
  /** The operation by which the term lasts as long as it does. */
  readonly lastsBy: number;
}

/** One lease as it has to behave, whoever asks and however often. */
export const LEASE_MODEL: Model<LeaseState, LeaseInput, LeaseOutput> = {
  initial: { nonce: null, fence: null, last: 0, lastsBy: -1 },
  step(state, input, output) {
    if (input.ask === 'expire') return state.lastsBy === input.of && state.nonce !== null ? free(state) : null;
    if (input.ask === 'acquire') return acquire(state, input, output);
    const ours = state.nonce === input.nonce;
    // Where nobody knows whether it happened, one that changes nothing need not be tried.
    if (output === undefined ? !ours : output !== ours) return null;
    if (!ours) return state;
    return input.ask === 'release' ? free(state) : { ...state, lastsBy: input.id };
  },
};

function acquire(
  state: LeaseState,
  { nonce, id }: { readonly nonce: string; readonly id: number },
  output: LeaseOutput | undefined,
): LeaseState | null {
  const held = state.nonce !== null;
  if (held && state.nonce !== nonce) return output === 'busy' ? state : null;
  if (output === 'busy' || typeof output === 'boolean') return null;
  if (output === undefined) return { ...state, nonce, fence: held ? state.fence : null, lastsBy: id };
  // The same term keeps its fence, a new one gets a larger one.
  const fits = held && state.fence !== null ? output.fence === state.fence : output.fence > state.last;
  return fits ? { nonce, fence: output.fence, last: output.fence, lastsBy: id } : null;
}

function free(state: LeaseState): LeaseState {
  return { ...state, nonce: null, fence: null, lastsBy: -1 };
}

/** A server may be late by so much: its clock counts whole milliseconds. */
const SLACK_MS = 5;

/**
 * The history with what nobody called: that terms run out, their ttl after they were last asked for. Whether one has is not
 * answered by anybody, so it need not have happened.
 */
export function withExpiries(history: readonly LeaseOperation[], ttlMs: number): LeaseOperation[] {
  const expiries = history.flatMap(({ input, output, calledAt, returnedAt }): LeaseOperation[] => {
    const lasts = input.ask !== 'expire' && input.ask !== 'release' && output !== 'busy' && output !== false;
    if (!lasts) return [];
    const [from, until] = [calledAt + ttlMs - SLACK_MS, returnedAt + ttlMs + SLACK_MS];
    return [{ input: { ask: 'expire', of: input.id }, output: undefined, calledAt: from, returnedAt: until }];
  });
  return [...history, ...expiries];
}
