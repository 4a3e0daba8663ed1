import { hashResource, ownerPrefix, scrub } from '@fencepost/lease/internal';
import { errorParts, isError, stackOf, type ErrorParts } from './error-parts.js';
import { EVENT_TEXT } from './event-text.js';
import type { EventName } from './events.js';

/** An event as a log shows it. */
export interface LogLine {
  readonly event: string;
  readonly sentence: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly error: ErrorParts | null;
}

/** The number of similar lines left out before a line. */
export interface LeftOut {
  /** Of the same event and subject. */
  readonly omitted: number;
  /** Of the same event about other subjects, unless a subject counts them. */
  readonly omittedOfOthers: number;
  /** Since the last line of this subject, milliseconds. */
  readonly sinceMs: number;
}

/** Of a holder, only the label and the first characters are shown, because the whole identity would allow impersonation. */
export function logLine(event: EventName, detail: object): LogLine {
  const { err, ...fields } = detail as Readonly<Record<string, unknown>>;
  return {
    event: snakeCase(event),
    sentence: eventSentence(event, detail),
    fields: scrub(presentable(fields)),
    error: isError(err) ? errorParts(err) : null,
  };
}

/** The line as an object, for loggers that write JSON. */
export function objectOf({ event, fields, error }: LogLine): Record<string, unknown> {
  return { event, ...fields, ...(error !== null && { err: errorFields(error) }) };
}

/** `catalog.zone-data` → `catalog_zone_data`, the usual shape of an event name in a log. */
function snakeCase(event: EventName): string {
  return event.replaceAll(/[.-]/g, '_');
}

function presentable(detail: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...detail };
  if (typeof fields['cron'] === 'string') fields['resource'] = hashResource(fields['cron']);
  for (const key of ['holder', 'worker']) if (typeof fields[key] === 'string') fields[key] = ownerPrefix(fields[key]);
  return fields;
}

/**
 * With pino's names. Its serializer takes the type from the class of an error, and without a class from `name`, which is not
 * enumerable here because other loggers would show it beside the type.
 */
function errorFields(parts: ErrorParts): object {
  const { type, message, code, errors, errorCount, cause } = parts;
  const fields: object = Object.create(null, { name: { value: type } });
  return Object.assign(fields, {
    type,
    message,
    stack: stackOf(parts),
    ...(code !== undefined && { code }),
    ...(errors && { aggregateErrors: errors.map(errorFields), errorCount }),
    ...(cause && { cause: errorFields(cause) }),
  });
}

/** Why instants had no run of their own. */
const REASONS: Readonly<Record<string, string>> = {
  overlap: 'an earlier run of the cron is still open, running or waiting for a worker',
  'no-capable-worker': 'an earlier run of the cron waits, because no live worker has its handler',
  paused: 'the cron is paused',
  misfire: 'they were missed, and the misfire policy skips them',
  merged: 'the next run of the cron covers them',
  superseded: 'a newer definition has replaced theirs',
};

/** Text of an event, with the reason of a skip; empty for an event of a newer release. */
export function eventSentence(event: string, detail: object): string {
  const { [event]: [, sentence] = ['', ''] }: Readonly<Record<string, readonly [string, string]>> = EVENT_TEXT;
  const isSkip = event === 'occurrence.skipped' || event === 'occurrence.passed';
  const why = isSkip ? REASONS[String(Reflect.get(detail, 'reason'))] : undefined;
  return why === undefined ? sentence : `${sentence}: ${why}`;
}

/** Adds the number of lines left out, to the sentence and as fields. */
export function withLeftOut(line: LogLine, { omitted, omittedOfOthers, sinceMs }: LeftOut): LogLine {
  if (omitted + omittedOfOthers === 0) return line;
  const own = omitted > 0 ? [`${omitted} more in the last ${spoken(sinceMs)}`] : [];
  const others = omittedOfOthers > 0 ? [`${omittedOfOthers} more of other crons`] : [];
  return {
    ...line,
    sentence: `${line.sentence} (${[...own, ...others].join(', ')})`,
    fields: {
      ...line.fields,
      ...(omitted > 0 && { omitted }),
      ...(omittedOfOthers > 0 && { omittedOfOthers }),
    },
  };
}

/** `12 s`, `minute`, `12 min`, `3 h`. */
function spoken(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  if (seconds < 55) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return minutes <= 1 ? 'minute' : `${minutes} min`;
  return `${Math.round(minutes / 60)} h`;
}
