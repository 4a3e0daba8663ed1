import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { EffectRequest, UnknownEffect } from '@fencepost/ledger';
import type { UnknownReason } from '@fencepost/ledger/run';
import type { IfUnknown, Lookup } from './effect-context.js';
import { EffectOptionParser } from './effect-option-parser.js';
import { payloadHash } from './payload-hash.js';
import { isStandardSchema, type StandardSchema } from './standard-schema.js';

/** Durations are texts such as `'30s'`, or whole milliseconds. */
export interface EffectOptions<T, R = T> {
  /**
   * What to do when nobody knows whether it has happened: its attempt was lost, or it didn't come back in time. By default
   * `'retry'` for a job of criticality `efficiency`, and `'ask'` for `correctness`.
   */
  readonly ifUnknown?: IfUnknown<NoInfer<T>>;
  /** For how long its provider remembers an idempotency key: what was begun longer ago is asked about, not done again. */
  readonly keyTtl?: string | number;
  /** What it sends. Another one under the same name is noticed: compared is a hash of what JSON keeps of it. */
  readonly payload?: unknown;
  /** How long one call of it, or of its lookup, may take. One that takes longer has an unknown outcome: it has not failed. */
  readonly timeout?: string | number;
  /** A Standard Schema (zod, valibot, …) of what JSON makes of its result: before it is recorded, and when it is read back. */
  readonly schema?: StandardSchema<R>;
}

/** The options of one effect, checked. */
export interface EffectSettings {
  readonly ifUnknown: IfUnknown<unknown>;
  readonly keyTtlMs: number | null;
  readonly payloadHash: string | null;
  readonly timeoutMs: number | null;
  readonly schema: StandardSchema | null;
}

const KNOWN = ['ifUnknown', 'keyTtl', 'payload', 'timeout', 'schema'];
const DEFAULTS = { keyTtlMs: null, payloadHash: null, timeoutMs: null, schema: null };

/** @throws {EffectOptionError} */
export function readEffectOptions(name: string, given: unknown, criticality: Criticality): EffectSettings {
  if (given === undefined) return { ...DEFAULTS, ifUnknown: defaultPolicy(criticality) };
  const parser = new EffectOptionParser(`the effect "${name}"`, { given, known: KNOWN });
  return {
    ifUnknown: readIfUnknown(parser, criticality),
    keyTtlMs: parser.duration('keyTtl'),
    payloadHash: readPayloadHash(parser),
    timeoutMs: parser.timeout(),
    schema: parser.read('schema', 'a Standard Schema', { fits: isStandardSchema, otherwise: null }),
  };
}

/** @throws {EffectOptionError} */
export function readIfUnknown(parser: EffectOptionParser, criticality: Criticality): IfUnknown<unknown> {
  const otherwise: IfUnknown<unknown> = defaultPolicy(criticality);
  return parser.read('ifUnknown', "'retry', 'ask' or a function", { fits: isPolicy, otherwise });
}

function isPolicy(value: unknown): value is IfUnknown<unknown> {
  return value === 'retry' || value === 'ask' || typeof value === 'function';
}

/** @throws {EffectOptionError} */
export function readPayloadHash(parser: EffectOptionParser): string | null {
  const payload = parser.value('payload');
  if (payload === undefined) return null;
  try {
    return payloadHash(payload);
  } catch (error) {
    throw parser.refusal('payload', `plain data that JSON can carry (${String(error).split('\n')[0]})`, payload);
  }
}

function defaultPolicy(criticality: Criticality): 'retry' | 'ask' {
  return criticality === 'correctness' ? 'ask' : 'retry';
}

/** What comes after an outcome that nobody knows. */
type NextStep =
  | { readonly step: 'again' }
  | { readonly step: 'look-up'; readonly lookup: Lookup<unknown> }
  | { readonly step: 'ask'; readonly unknownReason: UnknownReason };

type Policy = Pick<EffectSettings, 'ifUnknown' | 'keyTtlMs' | 'payloadHash'>;

/** With which word the ledger is asked first: only what is done again whatever its age is begun without a look at it. */
export function firstWord({ ifUnknown, keyTtlMs }: Policy): EffectRequest['ifUnknown'] {
  return ifUnknown === 'retry' && keyTtlMs === null ? 'go' : 'tell';
}

/** An earlier attempt began the effect, and never said how it ended. */
export function afterOrphaned(unknown: UnknownEffect, policy: Policy): NextStep {
  // Its provider would take what is sent now for what was sent then, or for something new: both may be wrong.
  if (isAnother(unknown.payloadHash, policy.payloadHash)) return { step: 'ask', unknownReason: 'payload-changed' };
  const { ifUnknown, keyTtlMs } = policy;
  if (typeof ifUnknown === 'function') return { step: 'look-up', lookup: ifUnknown };
  if (ifUnknown === 'ask') return { step: 'ask', unknownReason: 'lost' };
  if (keyTtlMs !== null && unknown.ageMs >= keyTtlMs) return { step: 'ask', unknownReason: 'key-expired' };
  return { step: 'again' };
}

/** This attempt began it, and can't tell how it ended. `again` is for the next attempt: this call may still get through. */
export function afterIndeterminate({ ifUnknown }: Pick<Policy, 'ifUnknown'>): NextStep {
  if (typeof ifUnknown === 'function') return { step: 'look-up', lookup: ifUnknown };
  return ifUnknown === 'ask' ? { step: 'ask', unknownReason: 'timeout' } : { step: 'again' };
}

/** Whether two hashes are of different payloads; where one isn't known, nobody can say. */
export function isAnother(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}
