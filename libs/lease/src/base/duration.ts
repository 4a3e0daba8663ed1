import { SetupError } from './errors.js';

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A bare number below this is more often meant as seconds, or minutes, than as milliseconds. */
const MIN_UNAMBIGUOUS = 1_000;

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/**
 * A duration as people write it, in milliseconds.
 * @param value `'500ms'`, `'10s'`, `'5m'`, `'2h'`, `'1d'`, or a whole number of milliseconds
 * @throws {SetupError} for anything else, also for a fraction of a millisecond
 */
export function parseDuration(value: string | number): number {
  const milliseconds = typeof value === 'number' ? value : fromText(value);
  if (Number.isSafeInteger(milliseconds) && milliseconds >= 0) return milliseconds;
  throw new SetupError(
    `Expected a duration such as '500ms', '10s', '5m', '2h' or '1d', or a whole number of milliseconds, got ${JSON.stringify(value)}.`,
  );
}

/**
 * Whether a bare number in an option that is written once may be meant in another unit than milliseconds, such as 60. What is
 * given with a call, as the time left to wait, is often computed, and taken as it is.
 */
export function isAmbiguous(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value < MIN_UNAMBIGUOUS;
}

function fromText(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
}
