import { createHash } from 'node:crypto';
import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { EffectRequest, UnknownEffect } from '@fencepost/ledger';
import type { UnknownReason } from '@fencepost/ledger/run';
import type { IfUnknown, Lookup } from './effect-context.js';
import { EffectOptionParser } from './effect-option-parser.js';
import { isStandardSchema, type StandardSchema } from './payload-schema.js';

/** Durations are texts such as `'30s'`, or whole milliseconds. */
export interface EffectOptions<T, R = T> {
  /**
   * What to do when its outcome is unknown: its attempt was lost, or it timed out. By default
   * `'retry'` for a job of criticality `efficiency`, and `'ask'` for `correctness`.
   */
  readonly ifUnknown?: IfUnknown<NoInfer<T>>;
  /** How long the provider remembers an idempotency key: an effect begun longer ago needs an operator instead of a retry. */
  readonly keyTtl?: string | number;
  /** What it sends. A different payload under the same name is refused, by comparing hashes of its JSON. */
  readonly payload?: unknown;
  /** Timeout of one call of it, or of its lookup. A call that times out has an unknown outcome: it has not failed. */
  readonly timeout?: string | number;
  /** A Standard Schema (zod, valibot, …) for its result as JSON, applied before it is recorded and when it is read back. */
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

/** The step that follows an unknown outcome. */
type NextStep =
  | { readonly step: 'again' }
  | { readonly step: 'look-up'; readonly lookup: Lookup<unknown> }
  | { readonly step: 'ask'; readonly unknownReason: UnknownReason };

type Policy = Pick<EffectSettings, 'ifUnknown' | 'keyTtlMs' | 'payloadHash'>;

/** The first request to the ledger: only an effect that is retried at any age is begun without checking earlier attempts. */
export function firstWord({ ifUnknown, keyTtlMs }: Policy): EffectRequest['ifUnknown'] {
  return ifUnknown === 'retry' && keyTtlMs === null ? 'go' : 'tell';
}

/** The step for an effect that an earlier attempt began and recorded no outcome for. */
export function afterOrphaned(unknown: UnknownEffect, policy: Policy): NextStep {
  // The provider would take this payload for the earlier one, or for a new request: both may be wrong.
  if (isAnother(unknown.payloadHash, policy.payloadHash)) return { step: 'ask', unknownReason: 'payload-changed' };
  const { ifUnknown, keyTtlMs } = policy;
  if (typeof ifUnknown === 'function') return { step: 'look-up', lookup: ifUnknown };
  if (ifUnknown === 'ask') return { step: 'ask', unknownReason: 'lost' };
  if (keyTtlMs !== null && unknown.ageMs >= keyTtlMs) return { step: 'ask', unknownReason: 'key-expired' };
  return { step: 'again' };
}

/** The step if this attempt's own call has an unknown outcome. `again` is for the next attempt: this call may still succeed. */
export function afterIndeterminate({ ifUnknown }: Pick<Policy, 'ifUnknown'>): NextStep {
  if (typeof ifUnknown === 'function') return { step: 'look-up', lookup: ifUnknown };
  return ifUnknown === 'ask' ? { step: 'ask', unknownReason: 'timeout' } : { step: 'again' };
}

/** Whether two hashes are known and differ. */
export function isAnother(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

/**
 * A SHA-256 hash, in hex, of a value as JSON; the order of keys does not matter.
 * @throws {TypeError} for a value that JSON can't represent: a bigint, a circular value, a function
 */
export function payloadHash(value: unknown): string {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) throw new TypeError('it is not data');
  return createHash('sha256')
    .update(canonical(JSON.parse(json)))
    .digest('hex');
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join(',')}}`;
}
