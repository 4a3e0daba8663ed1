import type { ItemRecord, RunHistory, UnresolvedEffectRef, ResolveReply } from '@fencepost/ledger';
import type { EffectRecord, Run, UnknownReason, UnresolvedEffect } from '@fencepost/ledger/run';

/** How far a `forEach` came. */
export interface ItemsSummary {
  readonly done: number;
  readonly failed: number;
  /** Begun and not ended. */
  readonly begun: number;
  /** The first {@link MAX_SHOWN} that are not done. */
  readonly open: readonly ItemRecord[];
}

export interface EffectReport extends Omit<EffectRecord, 'result'> {
  /** What it brought, once it is done. */
  readonly result: unknown;
  /** Begun, but its worker died: nobody knows whether it happened. */
  readonly unknown: boolean;
}

/** All that is known of one run. */
export interface RunReport {
  readonly run: Run;
  /** In the order they were begun. */
  readonly effects: readonly EffectReport[];
  /** By the name of the `forEach`. */
  readonly items: Readonly<Record<string, ItemsSummary>>;
  /** While it is uncertain. */
  readonly unresolvedEffect: ExplainedEffect | null;
}

const MAX_SHOWN = 100;

export async function reportOf(
  ledger: Pick<RunHistory, 'effects' | 'items'>,
  run: Run,
  forEach: readonly string[],
): Promise<RunReport> {
  const effects = await ledger.effects(run.id);
  const items: [string, ItemsSummary][] = [];
  for (const name of new Set([...(run.unresolvedEffect ? [run.unresolvedEffect.effect] : []), ...forEach])) {
    const records = await ledger.items(run.id, name);
    if (records.length > 0) items.push([name, summaryOf(records)]);
  }
  return {
    run,
    effects: effects.map((effect) => effectReport(effect, run)),
    items: Object.fromEntries(items),
    unresolvedEffect: run.unresolvedEffect && explainUnresolvedEffect(run, run.unresolvedEffect),
  };
}

function effectReport(effect: EffectRecord, { state }: Run): EffectReport {
  const result: unknown = effect.result === null ? null : JSON.parse(effect.result);
  return { ...effect, result, unknown: effect.state === 'begun' && state !== 'running' };
}

function summaryOf(records: readonly ItemRecord[]): ItemsSummary {
  const count = (state: ItemRecord['state']) => records.filter((record) => record.state === state).length;
  const open = records.filter(({ state }) => state !== 'done').slice(0, MAX_SHOWN);
  return { done: count('done'), failed: count('failed'), begun: count('begun'), open };
}

/** A question that a run waits with, and what a person needs to answer it. */
interface ExplainedEffect extends UnresolvedEffect {
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

function explainUnresolvedEffect({ id }: Run, unresolvedEffect: UnresolvedEffect): ExplainedEffect {
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
