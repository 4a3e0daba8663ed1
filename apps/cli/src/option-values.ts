import { parseDuration } from '@fencepost/lease/internal/options';
import { InvalidArgumentError } from 'commander';

/** More than any cron will have. */
export const MAX_GENERATIONS = 1e15 - 1;

export interface JsonValue {
  readonly value: unknown;
}

const INSTANT = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A date of its own is its midnight in UTC. A time without an offset is refused: it would be that of this machine. */
export function instant(text: string): number {
  const [, date] = INSTANT.exec(text) ?? [];
  const at = date === undefined ? Number.NaN : Date.parse(text);
  // `Date` takes the 30th of February for the 2nd of March.
  if (!Number.isNaN(at) && new Date(`${date}T00:00:00Z`).toISOString().startsWith(`${date}T`)) return at;
  throw new InvalidArgumentError('Use an instant with offset, such as 2026-03-28T00:00:00Z, or a date for 00:00 UTC.');
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
  };
}

export function positiveDuration(text: string): number {
  return durationFrom(1, text);
}

/** Also none at all, such as 0s. */
export function duration(text: string): number {
  return durationFrom(0, text);
}

function durationFrom(least: number, text: string): number {
  try {
    const milliseconds = parseDuration(text);
    if (milliseconds >= least) return milliseconds;
  } catch {
    // Said below, in the words of an option.
  }
  throw new InvalidArgumentError('Use a duration such as 500ms, 10s, 5m, 2h or 1d.');
}

/** A generation of a cron, or that the cron is not there. No `null`: commander takes that for an option without a value. */
export function generationOrNone(text: string): number | 'none' {
  return text === 'none' ? text : wholeNumber(1, MAX_GENERATIONS)(text);
}

/** Anything JSON can carry, in an envelope: `null` itself would become an empty text on its way through commander. */
export function json(text: string): JsonValue {
  try {
    return { value: JSON.parse(text) };
  } catch {
    throw new InvalidArgumentError(`Give JSON, such as '{"month":"2026-03"}'; a plain string needs "quotes".`);
  }
}

/** What a person says about an order; an empty word is none. */
export function words(text: string): string {
  if (text.trim() !== '') return text.trim();
  throw new InvalidArgumentError('A reason is required; it is kept in the audit trail.');
}
