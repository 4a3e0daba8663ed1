import type { UnresolvedEffectRef, ResolveReply } from '@fencepost/ledger';
import type { UnknownReason, UnresolvedEffect, Run } from '@fencepost/ledger/run';

/** A question that a run waits with, and what a person needs to answer it. */
export interface ExplainedEffect extends UnresolvedEffect {
  /** What the effect gave to the system it changes. */
  readonly idempotencyKey: string;
  /** Why nobody knows. */
  readonly why: string;
  /** Where to look, and what to answer then. */
  readonly advice: string;
}

/** How the sentence goes on that begins with the effect, and when it was begun. */
const WHY: Readonly<Record<UnknownReason, string>> = {
  lost: 'and whoever did is gone: it may have happened, or not.',
  timeout: 'and did not come back in time: it may have happened, or may happen still.',
  'payload-changed': 'with another payload than the run has for it now: what was sent then may have happened.',
  'key-expired':
    'so long ago that the system it changes may have forgotten its key: a repetition would not be noticed.',
};

export function explainUnresolvedEffect({ id }: Run, question: UnresolvedEffect): ExplainedEffect {
  const { effect, item, doubt, since } = question;
  const idempotencyKey = [id, effect, ...(item === null ? [] : [item])].join('/');
  const what = item === null ? `The effect "${effect}"` : `The item "${item}" of "${effect}"`;
  const from = new Date(since).toISOString();
  return {
    ...question,
    idempotencyKey,
    why: `${what} was begun at ${from}, ${WHY[doubt]}`,
    advice:
      `Look in the system it changes for the idempotency key "${idempotencyKey}", or for what happened there from ${from} on. ` +
      `If it is there, answer "done", with its result. If it is not, and can't come any more, answer "not-done": it is done ` +
      `again. If the run is not worth it, answer "give-up".`,
  };
}

type AsksAnother = Extract<ResolveReply, { readonly verdict: 'asks-another' }>;

/** Why an answer was refused, and what the question is now. */
export function asksAnother(runId: string, answered: UnresolvedEffectRef, { attempt, question }: AsksAnother): string {
  return (
    `Run "${runId}" asks about ${nameOf({ ...question, attempt })} now; the answer was about ${nameOf(answered)}. Nothing ` +
    `was changed: look at the run again, and answer what it asks.`
  );
}

function nameOf({ effect, item, attempt, since }: UnresolvedEffectRef): string {
  const what = item === null ? `the effect "${effect}"` : `the item "${item}" of "${effect}"`;
  return `${what} (attempt ${attempt}, begun at ${new Date(since).toISOString()})`;
}
