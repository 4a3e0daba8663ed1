import type { Write } from '../fail-points.js';
import type { Thaw, TortureMishap } from './mishap.js';
import type { EffectKind } from './observations.js';

/** An effect that there is, as the undisturbed run showed it. */
export interface KnownEffect {
  readonly name: string;
  readonly kind: EffectKind;
}

const WHEN = ['before', 'after'] as const;
const THAWS: readonly Thaw[] = ['beside', 'after'];
const WRITES: Record<EffectKind, readonly Write[]> = {
  effect: ['beginEffect', 'finishEffect'],
  items: ['advanceItems'],
  transaction: ['transaction'],
};

/** More at once, and nobody can say which of them it was. */
const MAX_AT_ONCE = 3;

/** Each fail point of each effect, one at a time. */
export function singleMishaps(effects: readonly KnownEffect[]): TortureMishap[] {
  const ofRun = (['begin', 'finish'] as const).flatMap((write) => aroundWrite({ write }));
  return [...effects.flatMap(ofEffect), ...ofRun];
}

/** Several mishaps in one run. The nth of a seed is the same on any machine, whatever came before it. */
export function mixedMishaps(single: readonly TortureMishap[], seed: number, nth: number): TortureMishap[] {
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ nth);
  const many = 2 + Math.floor(random() * (MAX_AT_ONCE - 1));
  return Array.from({ length: many }, () => single[Math.floor(random() * single.length)]).filter(
    (mishap) => mishap !== undefined,
  );
}

function ofEffect({ name: effect, kind }: KnownEffect): TortureMishap[] {
  const writes = WRITES[kind].flatMap((write) => aroundWrite({ write, effect }));
  // A transaction is called within its one write: whatever happens in it is rolled back, or committed.
  if (kind === 'transaction') return writes;
  const stalls = (['before', 'within'] as const).flatMap((when) =>
    THAWS.map((thaw) => ({ kind: 'stall' as const, when, effect, thaw })),
  );
  const calls = (['silence', 'refusal', 'slow', 'cancel'] as const).map((kindOf) => ({ kind: kindOf, effect }));
  return [...writes, ...stalls, ...calls];
}

function aroundWrite(at: { readonly write: Write; readonly effect?: string }): TortureMishap[] {
  return WHEN.flatMap((when): TortureMishap[] => [
    { kind: 'crash', when, ...at },
    ...THAWS.map((thaw) => ({ kind: 'freeze' as const, when, thaw, ...at })),
    { kind: 'lose', when, ...at },
  ]);
}

/** Numbers from 0 up to 1 that follow from `seed` alone (mulberry32): the same tortures again for who wants to see one again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
