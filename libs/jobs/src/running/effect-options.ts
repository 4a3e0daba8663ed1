import { createHash } from 'node:crypto';
import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { EffectRequest, UnknownEffect } from '@fencepost/ledger';
import type { UnknownReason } from '@fencepost/ledger/run';
import { isStandardSchema, type StandardSchema } from './payload-schema.js';
import type { Fence } from '@fencepost/lease';
import { inspect } from 'node:util';
import { scrub } from '@fencepost/lease/internal';
import { parseDuration } from '@fencepost/lease/internal/options';
import { EffectOptionError } from './errors.js';

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
function readIfUnknown(parser: EffectOptionParser, criticality: Criticality): IfUnknown<unknown> {
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

/** What an effect passes on to the system that it changes. */
export interface EffectContext {
  /** The fence of the attempt: a sink that keeps the largest one can refuse a stale writer. */
  readonly fence: Fence;
  /** `<run id>/<effect name>`, the same in every attempt: a sink that remembers it can refuse a duplicate. */
  readonly idempotencyKey: string;
  /** Aborts when the attempt must stop, or when the `timeout` of the effect has passed. */
  readonly signal: AbortSignal;
}

/** Passed to the lookup of an unknown effect. */
export interface LookupContext extends EffectContext {
  /** When it was first begun since its last recorded failure, by the clock of the store. */
  readonly since: Date;
  /** How long ago that was, milliseconds. */
  readonly ageMs: number;
}

/** The answer of the provider: it happened with this result, it did not happen, or unknown. */
export type LookupAnswer<T> = 'not-done' | 'unknown' | { readonly done: T };

/** Asks the provider. If it throws, the attempt fails and the next one asks again. */
export type Lookup<T> = (about: LookupContext) => Promise<LookupAnswer<T>> | LookupAnswer<T>;

/**
 * What to do about an unknown effect. `retry`: execute it again under the same idempotency key. `ask`: the run becomes
 * `uncertain` until an operator resolves it. A function: ask the provider first.
 */
export type IfUnknown<T> = 'retry' | 'ask' | Lookup<T>;

/** Durations are texts such as `'30s'`, or whole milliseconds. */
export interface ForEachOptions {
  /** The name under which its items are recorded, default `'items'`; unique in a run. */
  readonly name?: string;
  /**
   * How many items are begun and recorded with one call to the ledger; from 1 to 1,000, default 50. After a crash the
   * outcome of all items of the current batch is unknown: with `ifUnknown: 'ask'`, the default is `concurrency`.
   */
  readonly batchSize?: number;
  /** How many items of a batch are executed at once; from 1 to 1,000, default 1. */
  readonly concurrency?: number;
  /** As for an effect, for each item; the `done` value of a lookup is not kept. */
  readonly ifUnknown?: IfUnknown<unknown>;
  /** Timeout of one item, or of its lookup. An item that times out has an unknown outcome: it has not failed. */
  readonly timeout?: string | number;
}

/** The result of this attempt. Returned only if no item failed. */
export interface ForEachCounts {
  readonly done: number;
  readonly failed: number;
  /** Done by an earlier attempt. */
  readonly skipped: number;
}

/** Executes one item. `idempotencyKey` is `<run id>/<name>/<key>`. */
export type ItemAct<T> = (item: T, context: EffectContext) => unknown;

export interface ForEachSettings {
  readonly name: string;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly ifUnknown: IfUnknown<unknown>;
  readonly timeoutMs: number | null;
}

const FOR_EACH_OPTIONS = ['name', 'batchSize', 'concurrency', 'ifUnknown', 'timeout'];
const USUAL_BATCH = 50;
/** Of one batch. */
export const MAX_ITEMS = 1_000;

/** @throws {EffectOptionError} */
export function readForEachOptions(name: string, given: unknown, criticality: Criticality): ForEachSettings {
  const parser = new EffectOptionParser(`the items "${name}"`, { given, known: FOR_EACH_OPTIONS });
  const ifUnknown = readIfUnknown(parser, criticality);
  const concurrency = parser.whole('concurrency', 1, MAX_ITEMS);
  // After a crash, each item that was begun needs an operator, even one that was not called yet.
  const usual = ifUnknown === 'ask' ? concurrency : Math.max(USUAL_BATCH, concurrency);
  return {
    name,
    ifUnknown,
    concurrency,
    batchSize: parser.whole('batchSize', usual, MAX_ITEMS),
    timeoutMs: parser.timeout(),
  };
}

/** A timer that waits longer fires at once. */
const MAX_TIMEOUT = '7d';

/** Reads the options of one effect, checking each before anything is begun. */
export class EffectOptionParser {
  readonly #given: Readonly<Record<string, unknown>>;

  /**
   * @param of what the options belong to, such as `the effect "mail"`
   * @throws {EffectOptionError} for a value that is no object, and for an unknown option
   */
  constructor(
    private readonly of: string,
    { given = {}, known }: { readonly given: unknown; readonly known: readonly string[] },
  ) {
    if (typeof given !== 'object' || given === null) throw this.refusal('options', 'an object', given);
    const stranger = Object.keys(given).find((option) => !known.includes(option));
    const expected = `one of ${known.join(', ')}`;
    if (stranger !== undefined)
      throw new EffectOptionError(of, `"${stranger}"`, { expected, got: 'an unknown option' });
    this.#given = given as Record<string, unknown>;
  }

  value(option: string): unknown {
    return this.#given[option];
  }

  /** The value if it `fits`, or `otherwise` if none is given. */
  read<T>(option: string, expected: string, { fits, otherwise }: Reading<T>): T {
    const value = this.value(option);
    if (value === undefined) return otherwise;
    if (fits(value)) return value;
    throw this.refusal(option, expected, value);
  }

  whole(option: string, otherwise: number, max: number): number {
    const fits = (value: unknown): value is number =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max;
    return this.read(option, `a whole number from 1 to ${max}`, { fits, otherwise });
  }

  /** Milliseconds, `null` if none is given. */
  duration(option: string, longest = Number.MAX_SAFE_INTEGER): number | null {
    const value = this.value(option);
    if (value === undefined) return null;
    const ms = milliseconds(value);
    if (ms !== null && ms >= 1 && ms <= longest) return ms;
    const atMost = longest === Number.MAX_SAFE_INTEGER ? '' : ` of at most '${MAX_TIMEOUT}'`;
    throw this.refusal(option, `a duration such as '30s'${atMost}, or milliseconds from 1`, value);
  }

  timeout(): number | null {
    return this.duration('timeout', parseDuration(MAX_TIMEOUT));
  }

  refusal(option: string, expected: string, value: unknown): EffectOptionError {
    // A payload may contain anything.
    const isPayload = option === 'payload' && typeof value === 'object';
    const got = isPayload ? 'an object with other fields' : inspect(scrub(value), { depth: 1, breakLength: Infinity });
    return new EffectOptionError(this.of, option, { expected, got });
  }
}

interface Reading<T> {
  readonly fits: (value: unknown) => value is T;
  readonly otherwise: T;
}

function milliseconds(value: unknown): number | null {
  try {
    return parseDuration(value as string);
  } catch {
    return null;
  }
}
