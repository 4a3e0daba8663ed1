import type { ItemRecord, RunHistory } from '@fencepost/ledger';
import type { EffectRecord, Run } from '@fencepost/ledger/run';
import { explainUnresolvedEffect } from './explain-question.js';
import type { EffectReport, ItemsSummary, RunReport } from '../presenting/run-report.js';

const MAX_SHOWN = 100;

export async function reportOf(
  ledger: Pick<RunHistory, 'effects' | 'items'>,
  run: Run,
  forEach: readonly string[],
): Promise<RunReport> {
  const effects = await ledger.effects(run.id);
  const items: [string, ItemsSummary][] = [];
  for (const name of new Set([...(run.question ? [run.question.effect] : []), ...forEach])) {
    const records = await ledger.items(run.id, name);
    if (records.length > 0) items.push([name, summaryOf(records)]);
  }
  return {
    run,
    effects: effects.map((effect) => effectReport(effect, run)),
    items: Object.fromEntries(items),
    question: run.question && explainUnresolvedEffect(run, run.question),
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
