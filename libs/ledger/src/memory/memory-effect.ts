import type { Fence } from '@fencepost/lease';
import type {
  AttemptRef,
  BeginEffectReply,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  ItemRecord,
  ItemsStep,
  UnknownEffect,
} from '../base/ledger.js';
import type { MemoryEffect, MemoryItem, MemoryRun } from './memory-ledger-record.js';
import type { EffectRecord } from '../base/run.js';

interface Now {
  readonly now: number;
}

/** `begin-effect.lua` for the attempt that is the current one. */
export function beginEffectInMemory(
  run: MemoryRun,
  { name, ifUnknown, payloadHash = null }: EffectRequest,
  { now, ...attempt }: AttemptRef & Now,
): BeginEffectReply {
  const effect = run.effects.get(name);
  if (effect?.state === 'done') return { verdict: 'done', result: effect.text, payloadHash: effect.payloadHash };
  if (effect?.state === 'begun' && effect.first === attempt.fence) return { verdict: 'go', unknown: null };
  if (effect?.state !== 'begun') {
    const begun = { state: 'begun', since: now, finishedAt: null, first: attempt.fence, by: null } as const;
    run.effects.set(name, Object.assign(effect ?? {}, { ...begun, text: '', payloadHash }));
    allow(run, name, attempt);
    return { verdict: 'go', unknown: null };
  }
  const changed = payloadHash !== null && effect.payloadHash !== null && payloadHash !== effect.payloadHash;
  const unknown = unknownOf(effect, now);
  if (changed || ifUnknown === 'tell') return { verdict: 'unknown', unknown };
  allow(run, name, attempt);
  return { verdict: 'go', unknown };
}

function unknownOf({ since, payloadHash }: MemoryEffect, now: number): UnknownEffect {
  return { since, ageMs: Math.max(0, now - since), payloadHash };
}

interface Finished extends AttemptRef, Now {
  /** Whether this attempt is the one that may change the run. */
  readonly current: boolean;
  readonly outcome: EffectOutcome;
}

/** `finish-effect.lua`, line for line. A done is a fact: it is kept from a stale attempt too, and never overwritten. */
export function finishEffectInMemory(run: MemoryRun, name: string, finished: Finished): FinishEffectReply {
  const { fence, current, outcome, now } = finished;
  const known = run.effects.get(name);
  const done = known?.state === 'done';
  if (done && (known.by !== fence || outcome.kind === 'failed')) return 'known';
  if (!current && (outcome.kind === 'failed' || !wasAllowed(run, name, finished))) return 'stale';
  if (!done) endEffect(run, name, { outcome, by: fence, now });
  return current ? 'recorded' : 'late';
}

interface Ending extends Now {
  readonly outcome: EffectOutcome;
  readonly by: Fence;
}

/** An end by an attempt, or by a person under fence 0. */
export function endEffect(run: MemoryRun, name: string, { outcome, by, now }: Ending): void {
  const known = run.effects.get(name) ?? { since: now, first: by, payloadHash: null };
  const text = outcome.kind === 'done' ? outcome.result : outcome.error;
  run.effects.set(name, Object.assign(known, { state: outcome.kind, finishedAt: now, by, text }));
}

/** From now on its late word counts. */
function allow(run: MemoryRun, name: string, { fence, nonce }: AttemptRef): void {
  const allowed = run.allowed.get(name) ?? new Map<Fence, string>();
  run.allowed.set(name, allowed.set(fence, nonce));
}

function wasAllowed(run: MemoryRun, name: string, { fence, nonce }: AttemptRef): boolean {
  return run.allowed.get(name)?.get(fence) === nonce;
}

export function effectsInMemory(run: MemoryRun): EffectRecord[] {
  return [...run.effects].map(([name, { state, since, finishedAt, first, by, text, payloadHash }]) => ({
    name,
    state,
    since,
    finishedAt,
    // Fence 0 is a person's.
    fence: by || first,
    result: state === 'done' ? text : null,
    error: state === 'failed' ? text : null,
    payloadHash,
  }));
}

interface Advance extends AttemptRef {
  /** Whether this attempt is the current one and its lease has not expired. */
  readonly holds: boolean;
  readonly now: number;
}

/** `advance-items.lua`, line for line. */
export function advanceItemsInMemory(run: MemoryRun, effect: string, step: ItemsStep & Advance): 'recorded' | 'stale' {
  const items = itemsOf(run, effect);
  const kept = step.holds || wasAllowed(run, effect, step);
  for (const outcome of step.finished) {
    if (!kept || (outcome.kind !== 'done' && !step.holds)) continue;
    endItem(items, outcome.key, { ...outcome, now: step.now });
  }
  if (!step.holds) return 'stale';
  if (step.begun.length > 0) allow(run, effect, step);
  for (const key of step.begun) {
    if ((items.get(key)?.state ?? 'failed') === 'failed') {
      items.set(key, { state: 'begun', error: null, since: step.now });
    }
  }
  return 'recorded';
}

interface ItemEnding {
  readonly kind: 'done' | 'failed';
  readonly error?: string;
  readonly now: number;
}

/** What is done stays done. */
export function endItem(items: Map<string, MemoryItem>, key: string, { kind, error, now }: ItemEnding): void {
  const known = items.get(key);
  if (known?.state === 'done') return;
  items.set(key, { state: kind, error: kind === 'failed' ? (error ?? '') : null, since: known?.since ?? now });
}

export function itemsOf(run: MemoryRun, effect: string): Map<string, MemoryItem> {
  const items = run.items.get(effect) ?? new Map<string, MemoryItem>();
  run.items.set(effect, items);
  return items;
}

export function itemsInMemory(run: MemoryRun, effect: string): ItemRecord[] {
  return [...itemsOf(run, effect)].map(([key, item]) => ({ key, ...item }));
}
