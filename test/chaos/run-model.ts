import type {
  AttemptLog,
  AttemptOutcome,
  AttemptRef,
  BeginReply,
  BeginRequest,
  ClaimReply,
  EffectRequest,
  ResolveReply,
  ResolveRequest,
} from '@fencepost/ledger';
import { isTerminal, nextState, type RunEvent, type RunState } from '@fencepost/ledger/run';
import type { Model } from '../support/linearizability.js';
import { beginEffect, finishEffect, transact, type EffectState } from './effect-model.js';

interface OfAttempt {
  readonly attempt: AttemptRef;
}

export type RunInput =
  /** `supersede` is asked by nobody: a later run may take the place of this one. */
  | { readonly op: 'claim' | 'trigger' | 'confirm' | 'redeliver' | 'cancel' | 'supersede' }
  | { readonly op: 'begin'; readonly request: Pick<BeginRequest, 'nonce'> }
  | { readonly op: 'resolve'; readonly request: ResolveRequest }
  | (OfAttempt & { readonly op: 'beginEffect'; readonly what: EffectRequest })
  | (OfAttempt & {
      readonly op: 'finishEffect';
      readonly what: string;
      readonly outcome: Parameters<AttemptLog['finishEffect']>[2];
    })
  | (OfAttempt & { readonly op: 'transaction'; readonly what: { readonly name: string } })
  | (OfAttempt & { readonly op: 'advanceItems' })
  | (OfAttempt & { readonly op: 'finish'; readonly what: AttemptOutcome });

export type RunOutput = unknown;

export interface RunModelState {
  readonly state: RunState | null;
  /** Of the latest attempt; `null` where the reply that told its fence got lost. */
  readonly fence: number | null;
  readonly nonce: string;
  /** The largest that is known to have been issued. */
  readonly last: number;
  readonly attempt: number;
  readonly finished: { readonly nonce: string; readonly state: RunState } | null;
  readonly effects: Readonly<Record<string, EffectState>>;
}

/** Whose attempt it is where nobody shows its nonce again. */
export const NOBODY = '';

const NOTHING: RunModelState = {
  state: null,
  fence: null,
  nonce: '',
  last: 0,
  attempt: 0,
  finished: null,
  effects: {},
};

/**
 * One run with its effects as it has to behave, whoever asks: only the current attempt changes it, fences rise, a *done* is
 * never overwritten, and each change of its state is one of the table.
 */
export const RUN_MODEL: Model<RunModelState, RunInput, RunOutput> = {
  initial: NOTHING,
  step(run, input, output) {
    const next = stepped(run, input, output);
    // What nobody knows the outcome of, and would change nothing, need not be tried.
    return output === undefined && next === run ? null : next;
  },
};

function stepped(run: RunModelState, input: RunInput, output: RunOutput): RunModelState | null {
  switch (input.op) {
    case 'claim':
      return claim(run, output as ClaimReply | undefined);
    case 'trigger':
      return run;
    case 'confirm':
      return run.state === 'claimed' ? moved(run, 'confirm') : run;
    case 'cancel':
      return run;
    case 'supersede':
      return run.attempt === 0 ? moved(run, 'supersede') : null;
    case 'begin':
      return begin(run, input.request, output as BeginReply | undefined);
    case 'redeliver':
      return redeliver(run, output);
    case 'resolve':
      return resolve(run, input.request, output as ResolveReply | undefined);
    default:
      return ofAttempt(run, input, output);
  }
}

export function isCurrent({ state, fence, nonce }: RunModelState, attempt: AttemptRef): boolean {
  return state === 'running' && nonce === attempt.nonce && (fence === null || fence === attempt.fence);
}

function moved(run: RunModelState, event: RunEvent): RunModelState | null {
  const state = nextState(run.state, event);
  return state === null ? null : { ...run, state };
}

function claim(run: RunModelState, output: ClaimReply | undefined): RunModelState | null {
  if (output === undefined || output.verdict === 'claimed') return moved(run, 'claim');
  if (output.verdict === 'skipped' && output.reason !== 'paused') return moved(run, 'skip');
  return run;
}

function begin(
  run: RunModelState,
  request: Pick<BeginRequest, 'nonce'>,
  output: BeginReply | undefined,
): RunModelState | null {
  const open = run.state !== null && !isTerminal(run.state) && run.state !== 'uncertain';
  const repeated = run.state === 'running' && run.nonce === request.nonce && run.nonce !== NOBODY;
  switch (output?.verdict) {
    case undefined:
      return repeated ? run : begun(run, request, null);
    case 'begun':
      if (output.attempt !== run.attempt + (repeated ? 0 : 1)) return null;
      if (repeated) return run.fence === null || run.fence === output.fence ? { ...run, ...fences(output) } : null;
      return output.fence > run.last ? begun(run, request, output.fence) : null;
    case 'busy':
    case 'not-due':
      return open && !repeated ? run : null;
    case 'uncertain':
      return run.state === 'uncertain' ? run : null;
    case 'missing':
      return run.state === null ? run : null;
    case 'terminal':
      return output.state === run.state ? run : ended(run, output.state);
  }
}

function fences({ fence }: { readonly fence: number }) {
  return { fence, last: fence };
}

function begun(run: RunModelState, { nonce }: Pick<BeginRequest, 'nonce'>, fence: number | null): RunModelState | null {
  const next = moved(run, 'begin');
  return next && { ...next, nonce, fence, last: fence ?? run.last, attempt: run.attempt + 1 };
}

/** What a begin finds that comes too late: the run is over by it. */
function ended(run: RunModelState, state: RunState): RunModelState | null {
  const found = (['exhaust', 'expire', 'cancel'] as const).find((event) => nextState(run.state, event) === state);
  return found === undefined ? null : moved(run, found);
}

function redeliver(run: RunModelState, output: unknown): RunModelState | null {
  if (output === null) return run;
  if (run.state === null || isTerminal(run.state) || run.state === 'uncertain') return null;
  if (run.state === 'running') return moved(run, 'orphan');
  return output === undefined ? null : run;
}

function resolve(
  run: RunModelState,
  { answer }: ResolveRequest,
  output: ResolveReply | undefined,
): RunModelState | null {
  if (output?.verdict === 'missing') return run.state === null ? run : null;
  if (output?.verdict === 'certain') return run.state !== 'uncertain' && output.state === run.state ? run : null;
  if (output?.verdict === 'asks-another') return run.state === 'uncertain' ? run : null;
  const next = moved(run, answer.verdict === 'give-up' ? 'give-up' : 'answer');
  // Which effect is meant stands in the question, and all of a run that asks are open or one is.
  const open = Object.entries(run.effects).filter(([, { state }]) => state === 'begun');
  const told = answer.verdict === 'done' ? 'done' : 'failed';
  const effects = open.map(([name]) => [name, { state: told, by: 0, first: 0 }] as const);
  return next && { ...next, effects: { ...run.effects, ...Object.fromEntries(effects) } };
}

const EVENT = {
  succeeded: 'succeed',
  failed: 'fail',
  cancelled: 'cancel',
  retry: 'retry',
  uncertain: 'need-operator',
} as const;

type AttemptInput = Extract<RunInput, OfAttempt>;

function ofAttempt(run: RunModelState, input: AttemptInput, output: unknown): RunModelState | null {
  const current = isCurrent(run, input.attempt);
  const { fence } = input.attempt;
  const effectsOf = (effects: RunModelState['effects'] | null) =>
    effects === run.effects ? run : effects && { ...run, effects };
  switch (input.op) {
    case 'beginEffect':
      return effectsOf(beginEffect(run.effects, { current, fence, name: input.what.name }, output));
    case 'finishEffect':
      return effectsOf(finishEffect(run.effects, { current, fence, name: input.what, outcome: input.outcome }, output));
    case 'transaction':
      return effectsOf(transact(run.effects, { current, fence, name: input.what.name }, output));
    case 'advanceItems':
      return output !== 'recorded' || current ? run : null;
    case 'finish':
      return finish(run, input, output as RunState | null | undefined);
  }
}

function finish(
  run: RunModelState,
  { attempt, what }: Extract<RunInput, { op: 'finish' }>,
  output: RunState | null | undefined,
): RunModelState | null {
  if (run.finished?.nonce === attempt.nonce) return output === undefined || output === run.finished.state ? run : null;
  const current = isCurrent(run, attempt);
  if (output === null) return current ? null : run;
  if (!current) return null;
  const next = moved(run, output === 'cancelled' ? 'cancel' : EVENT[what.kind]);
  if (!next?.state || (output !== undefined && next.state !== output)) return null;
  return { ...next, finished: { nonce: attempt.nonce, state: next.state } };
}
