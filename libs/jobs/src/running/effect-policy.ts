import type { UnknownReason } from '@fencepost/ledger/run';
import type { EffectRequest, UnknownEffect } from '@fencepost/ledger';
import type { EffectSettings } from './effect-options.js';
import type { Lookup } from './effect-context.js';

/** What comes after an outcome that nobody knows. */
type NextStep =
  | { readonly step: 'again' }
  | { readonly step: 'look-up'; readonly lookup: Lookup<unknown> }
  | { readonly step: 'ask'; readonly doubt: UnknownReason };

type Policy = Pick<EffectSettings, 'ifUnknown' | 'keyTtlMs' | 'payloadHash'>;

/** With which word the ledger is asked first: only what is done again whatever its age is begun without a look at it. */
export function firstWord({ ifUnknown, keyTtlMs }: Policy): EffectRequest['ifUnknown'] {
  return ifUnknown === 'retry' && keyTtlMs === null ? 'go' : 'tell';
}

/** An earlier attempt began the effect, and never said how it ended. */
export function afterOrphaned(unknown: UnknownEffect, policy: Policy): NextStep {
  // Its provider would take what is sent now for what was sent then, or for something new: both may be wrong.
  if (isAnother(unknown.payloadHash, policy.payloadHash)) return { step: 'ask', doubt: 'payload-changed' };
  const { ifUnknown, keyTtlMs } = policy;
  if (typeof ifUnknown === 'function') return { step: 'look-up', lookup: ifUnknown };
  if (ifUnknown === 'ask') return { step: 'ask', doubt: 'lost' };
  if (keyTtlMs !== null && unknown.ageMs >= keyTtlMs) return { step: 'ask', doubt: 'key-expired' };
  return { step: 'again' };
}

/** This attempt began it, and can't tell how it ended. `again` is for the next attempt: this call may still get through. */
export function afterIndeterminate({ ifUnknown }: Pick<Policy, 'ifUnknown'>): NextStep {
  if (typeof ifUnknown === 'function') return { step: 'look-up', lookup: ifUnknown };
  return ifUnknown === 'ask' ? { step: 'ask', doubt: 'timeout' } : { step: 'again' };
}

/** Whether two hashes are of different payloads; where one isn't known, nobody can say. */
export function isAnother(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}
