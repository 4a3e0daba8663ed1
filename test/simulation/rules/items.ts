import type { AttemptRef, ItemsStep } from '@fencepost/ledger';
import { isAsked } from '../workload.js';
import { demandHolding } from './attempting.js';
import { letIn, mayBeLetIn, type KnownEffect, type KnownRun } from './known.js';
import type { Seen } from './seen.js';
import { demand } from './violation.js';

type Advancing = AttemptRef & { readonly effect: string; readonly step: ItemsStep };

export function judgeAdvanceItems(seen: Seen<Advancing, 'recorded' | 'stale'>): void {
  const { cron, request, reply, now, saw } = seen;
  const run = cron.runs.get(request.runId);
  if (reply === 'stale') saw('items: stale');
  if (reply === 'recorded') demandHolding(run, request, { now, what: `was let into items of "${request.effect}"` });
  if (!run) return;
  const items = itemsOf(run, request.effect);
  if (reply === 'recorded' || mayBeLetIn(run, request.effect, request)) finish(items, request, reply === 'recorded');
  if (reply === 'stale') return;
  for (const key of request.step.begun) begin(run, items, { ...request, key });
  if (request.step.begun.length > 0) letIn(run, request.effect, request);
}

/** I8: what is done stays done, and a late done is kept. */
function finish(items: Map<string, KnownEffect>, { fence, step }: Advancing, current: boolean): void {
  for (const { key, kind } of step.finished) {
    const done = items.get(key)?.state === 'done';
    if (done || (kind === 'failed' && !current)) continue;
    items.set(key, { state: kind, first: items.get(key)?.first ?? fence, result: null });
  }
}

/** I7, for one item. */
function begin(
  run: KnownRun,
  items: Map<string, KnownEffect>,
  { effect, key, fence }: Advancing & { key: string },
): void {
  const known = items.get(key);
  const unknown = known?.state === 'begun' && known.first !== fence;
  demand(!(unknown && isAsked(effect)), 'I7', () => `${run.id} began "${effect}/${key}" again, and nobody was asked`);
  if ((known?.state ?? 'failed') === 'failed') items.set(key, { state: 'begun', first: fence, result: null });
}

export function itemsOf(run: KnownRun, effect: string): Map<string, KnownEffect> {
  const items = run.items.get(effect) ?? new Map<string, KnownEffect>();
  run.items.set(effect, items);
  return items;
}
