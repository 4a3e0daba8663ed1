import type {
  AttemptLog,
  AttemptRef,
  BeginEffectReply,
  EffectRequest,
  FinishEffectReply,
  ItemsStep,
} from '@fencepost/ledger';
import { isAsked } from '../workload.js';
import { demandHolding } from './attempting.js';
import { isCurrent, letIn, mayBeLetIn, wasLetIn, type KnownEffect, type KnownRun } from './known.js';
import type { Seen } from './violation.js';
import { demand } from './violation.js';

type Beginning = AttemptRef & { readonly effect: EffectRequest };

export function judgeBeginEffect(seen: Seen<Beginning, BeginEffectReply>): void {
  const { cron, request, reply, now, saw } = seen;
  if (reply.verdict === 'stale') return saw('effect: stale');
  const { name } = request.effect;
  const run = demandHolding(cron.runs.get(request.runId), request, { now, what: `was let into "${name}"` });
  const known = run.effects.get(name);
  if (known?.state === 'done') return checkDone(run, known, seen);
  demand(reply.verdict !== 'done', 'I8', () => `${run.id} has "${name}" as done, which nobody reported`);
  if (reply.verdict === 'unknown') return saw('effect: unknown');
  if (known?.state === 'begun' && known.first !== request.fence) checkAgain(run, seen, reply);
  if (known?.state !== 'begun') run.effects.set(name, { state: 'begun', first: request.fence, result: null });
  letIn(run, name, request);
}

/** I8: what is done is done, with the result that was told first. */
function checkDone(run: KnownRun, { result }: KnownEffect, { request, reply, saw }: Seen<Beginning, BeginEffectReply>) {
  const { name } = request.effect;
  demand(reply.verdict === 'done', 'I8', () => `${run.id} has done "${name}", and was told ${reply.verdict}`);
  demand(reply.result === result, 'I8', () => `${run.id} did "${name}" with ${result}, and was told ${reply.result}`);
  saw('effect: done before');
}

/** I7: an earlier attempt began it, and nobody knows how that ended. */
function checkAgain(
  run: KnownRun,
  { request, saw }: Seen<Beginning, BeginEffectReply>,
  { unknown }: Extract<BeginEffectReply, { verdict: 'go' }>,
): void {
  const { name, ifUnknown } = request.effect;
  demand(!isAsked(name), 'I7', () => `${run.id} began "${name}" again, and nobody was asked`);
  const told = ifUnknown === 'go' && unknown !== null;
  demand(told, 'I7', () => `${run.id} began "${name}" again without a word of the first time`);
  saw('effect: again');
}

type Finishing = AttemptRef & { readonly effect: string; readonly outcome: Parameters<AttemptLog['finishEffect']>[2] };

export function judgeFinishEffect(seen: Seen<Finishing, FinishEffectReply>): void {
  const { cron, request, reply, saw } = seen;
  const run = cron.runs.get(request.runId);
  if (!run) return;
  if (reply === 'stale') return checkFactKept(run, request);
  const known = run.effects.get(request.effect);
  if (reply === 'known') {
    demand(known?.state === 'done', 'I8', () => `${run.id} knows "${request.effect}" as done, which nobody reported`);
    return saw('effect: known fact');
  }
  if (reply === 'late') saw('effect: late fact');
  checkWho(run, seen);
  if (known?.state !== 'done') run.effects.set(request.effect, ended(request, known));
  else checkSame(run, seen, known);
}

/** I8: a done of somebody who was let in is a fact, however late it comes. */
function checkFactKept(run: KnownRun, request: Finishing): void {
  const fact = request.outcome.kind === 'done' && wasLetIn(run, request.effect, request);
  demand(!fact, 'I8', () => `${run.id} lost the word that "${request.effect}" is done, of fence ${request.fence}`);
}

/** I5: only the current attempt ends an effect; a late word counts from who was let in, and as done alone. */
function checkWho(run: KnownRun, { request, reply }: Seen<Finishing, FinishEffectReply>): void {
  const { effect, fence, outcome } = request;
  const late = reply === 'late' && outcome.kind === 'done' && mayBeLetIn(run, effect, request);
  const counts = late || (reply === 'recorded' && isCurrent(run, request));
  demand(
    counts,
    'I5',
    () => `${run.id} took that "${effect}" is ${outcome.kind} from ${fence}, its own is ${run.fence}`,
  );
}

/** I8: the same word again, of the same attempt. */
function checkSame(
  run: KnownRun,
  { request }: Seen<Finishing, FinishEffectReply>,
  { first, result }: KnownEffect,
): void {
  const { effect, outcome, fence } = request;
  const same = outcome.kind === 'done' && first === fence;
  demand(same, 'I8', () => `${run.id} did "${effect}" with ${result}, and ${fence} said ${outcome.kind} over it`);
}

/** From then on `first` is who ended it: whoever else speaks of it is told that it is known. */
function ended({ fence, outcome }: Finishing, known: KnownEffect | undefined): KnownEffect {
  if (outcome.kind === 'failed') return { state: 'failed', first: known?.first ?? fence, result: null };
  return { state: 'done', first: fence, result: outcome.result };
}

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
