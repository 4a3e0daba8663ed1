import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { IfUnknown } from './effect-context.js';
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
