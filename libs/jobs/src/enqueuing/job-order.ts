import { createHash } from 'node:crypto';
import { parseDuration } from '@fencepost/lease/internal/options';
import { OperatorInputError } from '@fencepost/ledger';
import { JobPayloadError } from '../running/errors.js';
import { MAX_PRIORITY } from '../queue/run-queue.js';

export interface EnqueueOptions {
  /** A text of 1 to 1,000 characters. The same key makes no second run of this job for `keyTtl`; default: each call makes one. */
  readonly idempotencyKey?: string;
  /**
   * `'7d'`, or milliseconds: how long the key is remembered, from its first use and whatever becomes of the run's record; from
   * a minute to 400 days, default 30 days. While the run is on record, the key is remembered in any case.
   */
  readonly keyTtl?: string | number;
  /** `'5m'`, or milliseconds: it begins no earlier than that. */
  readonly delay?: string | number;
  /** Or no earlier than at this instant, a date or epoch milliseconds; one that is past means now. */
  readonly runAt?: Date | number;
  /** 1 to 2,097,151: of the jobs that wait, the smaller number goes first; default: before all of them. */
  readonly priority?: number;
  /** The name of the caller, recorded with the run; default `'jobs'`. */
  readonly by?: string;
}

/** {@link EnqueueOptions}, checked. */
export interface JobOrder {
  readonly key: string | null;
  /** How long the key is remembered. */
  readonly keyMs: number | null;
  readonly notBefore: number | null;
  readonly priority: number | null;
  readonly by: string;
}

const MAX_PAYLOAD = 1_048_576;
const DAY_MS = 86_400_000;
const DEFAULT_KEY_TTL_MS = 30 * DAY_MS;
const MIN_KEY_TTL_MS = 60_000;
const MAX_KEY_TTL_MS = 400 * DAY_MS;

/**
 * @param now the store's clock, epoch milliseconds
 * @throws {OperatorInputError}
 */
export function checkedOrder(options: EnqueueOptions, now: number): JobOrder {
  const { idempotencyKey, priority = null, by = 'jobs' } = options;
  if (priority !== null && !(Number.isSafeInteger(priority) && priority >= 1 && priority <= MAX_PRIORITY)) {
    throw OperatorInputError.of('priority', `a whole number from 1 to ${MAX_PRIORITY}`, priority);
  }
  return {
    key: idempotencyKey === undefined ? null : checkedText('idempotencyKey', idempotencyKey),
    keyMs: checkedKeyTtl(options),
    notBefore: checkedBeginning(options, now),
    priority,
    by: checkedText('by', by),
  };
}

function checkedKeyTtl({ idempotencyKey, keyTtl }: EnqueueOptions): number | null {
  if (idempotencyKey === undefined) {
    if (keyTtl === undefined) return null;
    throw OperatorInputError.of('keyTtl', 'left out where there is no "idempotencyKey"', keyTtl);
  }
  const ms = keyTtl === undefined ? DEFAULT_KEY_TTL_MS : checkedDuration('keyTtl', keyTtl);
  if (ms >= MIN_KEY_TTL_MS && ms <= MAX_KEY_TTL_MS) return ms;
  throw OperatorInputError.of('keyTtl', "a duration from '1m' to '400d'", keyTtl);
}

function checkedBeginning({ delay, runAt }: EnqueueOptions, now: number): number | null {
  if (delay !== undefined && runAt !== undefined)
    throw OperatorInputError.of('delay', 'left out beside "runAt"', delay);
  if (runAt !== undefined) return checkedInstant('runAt', runAt instanceof Date ? runAt.getTime() : runAt);
  return delay === undefined ? null : checkedInstant('delay', Math.ceil(now + checkedDuration('delay', delay)));
}

export function checkedDuration(what: string, duration: string | number): number {
  try {
    return parseDuration(duration);
  } catch {
    throw OperatorInputError.of(what, "a duration such as '5m', or whole milliseconds", duration);
  }
}

/**
 * As JSON; `null` for nothing.
 * @throws {JobPayloadError} for what JSON doesn't keep, or more than 1 MiB of it
 */
export function checkedJobPayload(job: string, payload: unknown): string | null {
  if (payload === undefined || payload === null) return null;
  const lost = lostInJson(payload);
  if (lost !== null)
    throw new JobPayloadError(job, [{ field: lost.join('.') || 'payload', problem: `expected ${JSON_VALUES}` }]);
  const json = JSON.stringify(payload);
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_PAYLOAD) return json;
  const size = `expected at most ${MAX_PAYLOAD} bytes as JSON, got ${bytes}; store it elsewhere and pass a reference`;
  throw new JobPayloadError(job, [{ field: 'payload', problem: size }]);
}

/**
 * A UUID whose text sorts by time (RFC 9562, section 5.7): 48 bits of epoch milliseconds, then the random bits of a version
 * 4 UUID, which has its variant where version 7 has it.
 */
export function uuidV7(now: number, uuidV4: string): string {
  const time = Math.floor(now).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuidV4.slice(15)}`;
}

/** What may stand in a run id as it is: BullMQ and all stores take it. */
const PLAIN = /^[A-Za-z0-9._-]{1,100}$/;

/**
 * What already means something else: an instant, a run that a person asked for, a key that was hashed, and what would be
 * taken for another delivery of a run, or for the re-run of an instant.
 */
const TAKEN = /^\d+$|^manual-|^key-|-[dr]\d+$/;

/**
 * The id of the run that an idempotency key stands for: the key as it is where that can't be mistaken for anything else, so
 * that people find it again, else a hash of it.
 */
export function runIdOfKey(job: string, key: string): string {
  if (PLAIN.test(key) && !TAKEN.test(key)) return `${job}@${key}`;
  // As JSON: halves of surrogate pairs, which UTF-8 can't tell apart, stay different.
  const hash = createHash('sha256').update(JSON.stringify(key)).digest('hex');
  return `${job}@key-${hash.slice(0, 40)}`;
}

/** The last instant a date can have. */
const LAST_MS = 8.64e15;
const MAX_TEXT_LENGTH = 1_000;
const MAX_CRON_PAYLOAD = 65_536;

/** Who gives the order, and why: both are recorded, so neither may be empty. */
export function checkedText(what: string, text: unknown): string {
  if (typeof text === 'string' && text.trim() !== '' && text.length <= MAX_TEXT_LENGTH) return text;
  throw OperatorInputError.of(what, `a text of 1 to ${MAX_TEXT_LENGTH} characters`, text);
}

export function checkedInstant(what: string, instant: unknown): number {
  if (typeof instant === 'number' && Number.isInteger(instant) && Math.abs(instant) <= LAST_MS) return instant;
  throw OperatorInputError.of(what, 'an instant in whole epoch milliseconds', instant);
}

export function checkedMs(what: string, ms: unknown): number {
  if (typeof ms === 'number' && Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw OperatorInputError.of(what, 'a whole number of milliseconds', ms);
}

/** As JSON; `null` for nothing. */
export function checkedPayload(payload: unknown, what = 'payload'): string | null {
  if (payload === undefined || payload === null) return null;
  const json = asJson(payload);
  if (json !== null && json.length <= MAX_CRON_PAYLOAD) return json;
  throw OperatorInputError.of(what, `plain data of at most ${MAX_CRON_PAYLOAD} characters as JSON`, payload);
}

function asJson(payload: unknown): string | null {
  try {
    return JSON.stringify(payload) ?? null;
  } catch {
    // A circle or a bigint: the sentence that follows shows it.
    return null;
  }
}

/**
 * Where a value holds something that JSON would drop or change (a date, NaN, `undefined`, a circle), or is nested too deeply: the
 * keys that lead there, none for the value itself. `null` when JSON keeps all of it.
 *
 * Written out, because comparing with what JSON makes of it says that something is lost and not what.
 */
export function lostInJson(value: unknown, around: readonly unknown[] = []): readonly string[] | null {
  if (typeof value !== 'object' || value === null) return isKept(value) ? null : [];
  if (around.length === MAX_DEPTH || around.includes(value) || !isPlain(value)) return [];
  for (const [key, part] of Object.entries(value)) {
    const lost = lostInJson(part, [...around, value]);
    if (lost !== null) return around.length < MAX_KEYS ? [key, ...lost] : [];
  }
  return null;
}

/** What {@link lostInJson} wants. */
export const JSON_VALUES =
  'JSON values only: null, booleans, numbers, strings, arrays and plain objects, at most 100 within each other';
/** More parts within parts than anything but an attack has; what comes after this check goes down part by part as well. */
const MAX_DEPTH = 100;
/** Keys of a path that a message shows. */
const MAX_KEYS = 10;

function isKept(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function isPlain(value: object): boolean {
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  if (Array.isArray(value)) return isDense(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** JSON fills a hole in a list with null, and drops names that stand beside its places. */
function isDense(list: readonly unknown[]): boolean {
  const keys = Object.keys(list);
  return keys.length === list.length && keys.every((key, place) => key === String(place));
}
