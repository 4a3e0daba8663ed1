import type { UnresolvedEffectRef, ResolveReply } from '@fencepost/ledger';
import type { UnknownReason, UnresolvedEffect, Run } from '@fencepost/ledger/run';

/** A question that a run waits with, and what a person needs to answer it. */
export interface ExplainedEffect extends UnresolvedEffect {
  /** Idempotency key sent to the system it changes. */
  readonly idempotencyKey: string;
  /** Why nobody knows. */
  readonly why: string;
  /** Where to look, and what to answer then. */
  readonly advice: string;
}

/** How the sentence goes on that begins with the effect, and when it was begun. */
const WHY: Readonly<Record<UnknownReason, string>> = {
  lost: 'but its worker died: it may or may not have happened.',
  timeout: 'and timed out: it may have happened, or may still happen.',
  'payload-changed': 'with a different payload than the run has now: the earlier one may have been sent.',
  'key-expired':
    'so long ago that the system it changes may have forgotten the idempotency key: a repetition would not be recognised.',
};

export function explainUnresolvedEffect({ id }: Run, unresolvedEffect: UnresolvedEffect): ExplainedEffect {
  const { effect, item, unknownReason, since } = unresolvedEffect;
  const idempotencyKey = [id, effect, ...(item === null ? [] : [item])].join('/');
  const what = item === null ? `The effect "${effect}"` : `The item "${item}" of "${effect}"`;
  const from = new Date(since).toISOString();
  return {
    ...unresolvedEffect,
    idempotencyKey,
    why: `${what} was begun at ${from}, ${WHY[unknownReason]}`,
    advice:
      `Search the system it changes for the idempotency key "${idempotencyKey}", or for its changes since ${from}. ` +
      `If it happened, answer "done" with its result. If it did not happen and no longer can, answer "not-done": it is ` +
      `executed again. To abandon the run, answer "give-up".`,
  };
}

type AsksAnother = Extract<ResolveReply, { readonly verdict: 'asks-another' }>;

/** Why an answer was refused, and what the question is now. */
export function asksAnother(
  runId: string,
  answered: UnresolvedEffectRef,
  { attempt, unresolvedEffect }: AsksAnother,
): string {
  return (
    `Run "${runId}" now waits for ${nameOf({ ...unresolvedEffect, attempt })}, but the answer was about ${nameOf(answered)}. Nothing ` +
    `was changed: review the run and answer its current question.`
  );
}

function nameOf({ effect, item, attempt, since }: UnresolvedEffectRef): string {
  const what = item === null ? `the effect "${effect}"` : `the item "${item}" of "${effect}"`;
  return `${what} (attempt ${attempt}, begun at ${new Date(since).toISOString()})`;
}
