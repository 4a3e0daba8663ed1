import { OperatorInputError } from '@fencepost/ledger';

/** The last instant a date can have. */
const LAST_MS = 8.64e15;
const MAX_TEXT_LENGTH = 1_000;
const MAX_PAYLOAD = 65_536;

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
  if (json !== null && json.length <= MAX_PAYLOAD) return json;
  throw OperatorInputError.of(what, `plain data of at most ${MAX_PAYLOAD} characters as JSON`, payload);
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
 * Where a value holds something that JSON would drop or change (a date, NaN, `undefined`, a circle): the keys that lead there,
 * none for the value itself. `null` when JSON keeps all of it.
 *
 * Written out, because comparing with what JSON makes of it says that something is lost and not what.
 */
export function lostInJson(value: unknown, around: readonly unknown[] = []): readonly string[] | null {
  if (typeof value !== 'object' || value === null) return isKept(value) ? null : [];
  if (around.includes(value) || !isPlain(value)) return [];
  for (const [key, part] of Object.entries(value)) {
    const lost = lostInJson(part, [...around, value]);
    if (lost !== null) return [key, ...lost];
  }
  return null;
}

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
