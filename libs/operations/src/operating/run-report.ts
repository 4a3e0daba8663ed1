import type { ItemRecord, RunHistory } from '@fencepost/ledger';
import type { EffectRecord, Run } from '@fencepost/ledger/run';
import { explainUnresolvedEffect, type ExplainedEffect } from './explain-question.js';

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
