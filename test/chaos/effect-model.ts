import type { AttemptLog, BeginEffectReply, FinishEffectReply, TransactionReply } from '@fencepost/ledger';

export interface EffectState {
  readonly state: 'begun' | 'done' | 'failed';
  /** The attempt that began it first since it last failed, and the one that ended it, by their fences. 0 is a person. */
  readonly first: number;
  readonly by: number;
}

type Effects = Readonly<Record<string, EffectState>>;

interface Asked {
  /** Whether the attempt that asks is the one that may change the run. */
  readonly current: boolean;
  readonly fence: number;
  readonly name: string;
}

/** @returns the effects of the run afterwards, or `null` where none could have answered that */
export function beginEffect(effects: Effects, asked: Asked, output: unknown): Effects | null {
  const reply = output as BeginEffectReply | undefined;
  const known = effects[asked.name];
  // Also where it is the current one and its lease has run out: nobody can say from here when that was.
  if (reply?.verdict === 'stale') return effects;
  if (!asked.current) return null;
  switch (reply?.verdict) {
    case 'done':
      return known?.state === 'done' ? effects : null;
    case 'unknown':
      return isOfAnother(known, asked.fence) ? effects : null;
    case 'go':
      if (known?.state === 'done' || isOfAnother(known, asked.fence) !== (reply.unknown !== null)) return null;
      return begun(effects, asked);
    case undefined:
      return known?.state === 'done' ? null : begun(effects, asked);
  }
}

function isOfAnother(known: EffectState | undefined, fence: number): boolean {
  return known?.state === 'begun' && known.first !== fence;
}

function begun(effects: Effects, { name, fence }: Asked): Effects {
  if (effects[name]?.state === 'begun') return effects;
  return { ...effects, [name]: { state: 'begun', first: fence, by: 0 } };
}

export function finishEffect(
  effects: Effects,
  asked: Asked & { readonly outcome: Parameters<AttemptLog['finishEffect']>[2] },
  output: unknown,
): Effects | null {
  const reply = output as FinishEffectReply | undefined;
  const { current, fence, name, outcome } = asked;
  const known = effects[name];
  const stands = known?.state === 'done' && (known.by !== fence || outcome.kind === 'failed');
  if (reply === 'known') return stands ? effects : null;
  if (stands) return null;
  if (reply === 'stale') return current ? null : effects;
  if (reply === 'recorded' && !current) return null;
  if (reply === 'late' && (current || outcome.kind !== 'done')) return null;
  if (reply === undefined && !current && outcome.kind !== 'done') return null;
  return { ...effects, [name]: { state: outcome.kind, first: known?.first ?? fence, by: fence } };
}

/** Begun and done in one step, or not at all. */
export function transact(effects: Effects, { current, fence, name }: Asked, output: unknown): Effects | null {
  const reply = output as TransactionReply | undefined;
  const isDone = effects[name]?.state === 'done';
  if (reply?.verdict === 'stale') return effects;
  if (isDone) return reply === undefined ? null : effects;
  return current ? { ...effects, [name]: { state: 'done', first: fence, by: fence } } : null;
}
