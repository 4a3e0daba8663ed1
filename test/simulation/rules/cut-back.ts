import type { CronRecord, ItemRecord, Ledger } from '../../../libs/ledger/src/base/ledger.js';
import { isTerminal } from '../../../libs/ledger/src/base/run-state.js';
import type { EffectRecord, Run } from '../../../libs/ledger/src/base/run.js';
import { newRun, type KnownCron, type KnownEffect, type KnownRun } from './known.js';

const ALL = Number.MAX_SAFE_INTEGER;

/** What a ledger still has of a cron. */
export interface Left {
  readonly record: CronRecord;
  readonly runs: readonly LeftRun[];
}

interface LeftRun {
  readonly run: Run;
  readonly effects: readonly EffectRecord[];
  readonly items: readonly (readonly [effect: string, items: readonly ItemRecord[]])[];
}

type Reads = Pick<Ledger, 'readCron' | 'runs' | 'effects' | 'items'>;

/** Reads all that is left. Which items there are only somebody knows who saw them begin. */
export async function whatIsLeft(ledger: Reads, cron: KnownCron): Promise<Left> {
  const [record, runs] = await Promise.all([ledger.readCron(cron.name), ledger.runs(cron.name, ALL)]);
  return { record, runs: await Promise.all(runs.map((run) => leftOf(ledger, cron, run))) };
}

async function leftOf(ledger: Reads, cron: KnownCron, run: Run): Promise<LeftRun> {
  const names = [...(cron.runs.get(run.id)?.items.keys() ?? [])];
  const items = names.map(async (name) => [name, await ledger.items(run.id, name)] as const);
  return { run, effects: await ledger.effects(run.id), items: await Promise.all(items) };
}

/**
 * Promises nothing any more that the ledger has lost. The fences of attempts are not cut back: sinks have seen them, and the
 * time in them keeps them growing.
 */
export function cutBack(cron: KnownCron, { record, runs }: Left): void {
  const { fence, cursor, generation, paused } = record;
  // Of which term the fence was is lost: the next claim shows it.
  Object.assign(cron, { fence, cursor, generation, paused, term: null });
  const before = new Map(cron.runs);
  cron.runs.clear();
  cron.open.clear();
  for (const left of runs) {
    cron.runs.set(left.run.id, recalled(left, before.get(left.run.id)));
    if (!isTerminal(left.run.state)) cron.open.add(left.run.id);
  }
}

function recalled({ run, effects, items }: LeftRun, before: KnownRun | undefined): KnownRun {
  const known = newRun(run.id, run.state);
  const { attempt, fence, delivery, unresolvedEffect } = run;
  const nonce = before?.attempts.get(fence ?? 0) ?? null;
  // Until when its lease goes, and how many answers are left, only the ledger knows.
  Object.assign(known, { attempt, fence, delivery, unresolvedEffect, nonce, leaseUntil: null });
  Object.assign(known, {
    capacity: before?.capacity ?? Infinity,
    answers: before?.answers ?? 0,
    cancelUntil: run.cancel?.until ?? Infinity,
  });
  for (const [at, name] of before?.attempts ?? []) known.attempts.set(at, name);
  for (const [at, state] of before?.finished ?? []) known.finished.set(at, state);
  for (const word of [...(before?.allowed ?? []), ...(before?.perhaps ?? [])]) known.perhaps.add(word);
  for (const effect of effects)
    known.effects.set(effect.name, recalledEffect(effect, before?.effects.get(effect.name)));
  for (const [name, all] of items) known.items.set(name, new Map(all.map((item) => recalledItem(item, name, before))));
  return known;
}

function recalledEffect({ state, fence, result }: EffectRecord, before: KnownEffect | undefined): KnownEffect {
  return { state, result, first: state === 'begun' ? fence : (before?.first ?? fence) };
}

function recalledItem({ key, state }: ItemRecord, name: string, before: KnownRun | undefined): [string, KnownEffect] {
  return [key, { state, result: null, first: before?.items.get(name)?.get(key)?.first ?? 0 }];
}
