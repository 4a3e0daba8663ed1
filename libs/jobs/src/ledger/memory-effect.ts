import type { AttemptRef, BeginEffectReply, FinishEffectReply } from './ledger.js';
import type { MemoryEffect, MemoryRun } from './memory-ledger-record.js';

/** `begin-effect.lua` for the attempt that is the current one. */
export function beginEffectInMemory(run: MemoryRun, name: string, attempt: AttemptRef): BeginEffectReply {
  const effect = effectOf(run, name, attempt);
  if (effect.done) return { verdict: 'done', result: effect.done.result };
  effect.begun.set(attempt.fence, attempt.nonce);
  return { verdict: 'go', unknown: effect.first !== attempt.fence };
}

interface Finished extends AttemptRef {
  /** Whether this attempt is the one that may change the run. */
  readonly current: boolean;
  readonly result: string;
}

/** `finish-effect.lua`, line for line. A done is a fact: it is kept from a stale attempt too, and never overwritten. */
export function finishEffectInMemory(run: MemoryRun, name: string, finished: Finished): FinishEffectReply {
  const { fence, nonce, current, result } = finished;
  const known = run.effects.get(name);
  if (known?.done && known.done.by !== fence) return 'known';
  if (!current && known?.begun.get(fence) !== nonce) return 'stale';
  effectOf(run, name, finished).done ??= { result, by: fence };
  return current ? 'recorded' : 'late';
}

function effectOf(run: MemoryRun, name: string, { fence }: AttemptRef): MemoryEffect {
  const effect = run.effects.get(name) ?? { first: fence, begun: new Map() };
  run.effects.set(name, effect);
  return effect;
}
