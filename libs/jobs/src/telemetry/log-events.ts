import type { Clock } from '@fencepost/lease';
import { hashResource, ownerPrefix, scrub } from '@fencepost/lease/internal';
import { EVENT_TEXT, type EventLevel, type EventName } from './events.js';
import type { EventListener, Telemetry } from './telemetry.js';

/** A logger that takes an object and a sentence, as pino does. */
export type EventLogger = Record<EventLevel, (detail: Record<string, unknown>, sentence: string) => void> & {
  /** Called before a line is built, if the logger has it. */
  isLevelEnabled?(level: EventLevel): boolean;
};

/** The same failure is logged once in this time: a store that is down fails many calls a second. */
const REPEAT_WINDOW_MS = 5_000;

/** Events that repeat with every call while their cause lasts. */
const FAILURES: ReadonlySet<EventName> = new Set(['store.failed', 'queue.failed', 'program.failed']);

/** Failures remembered; a store that is down causes one per cron. */
const MAX_REMEMBERED = 1_000;

/**
 * Writes every event as one line: `event`, a hash of the resource, and the fields of the event. Of a holder, only the label
 * and the first characters are written, because the whole identity would allow impersonation. For secrets, see `scrub`.
 * @returns a function that ends the logging
 */
export function logEvents(telemetry: Telemetry, logger: EventLogger, clock: Clock): () => void {
  return telemetry.listenAsLog(lineWriter(logger, clock));
}

/** Writes an event as one line. */
export function lineWriter(logger: EventLogger, clock: Clock): EventListener {
  const logged = new Map<string, number>();
  return (event, detail) => {
    if (FAILURES.has(event) && !isNew(logged, `${event} ${Object.values(detail).join(' ')}`, clock)) return;
    const [level] = EVENT_TEXT[event];
    if (logger.isLevelEnabled?.(level) === false) return;
    logger[level]({ event: snakeCase(event), ...scrub(presentable(detail)) }, eventSentence(event, detail));
  };
}

/** `catalog.zone-data` → `catalog_zone_data`, the usual shape of an event name in a log. */
function snakeCase(event: EventName): string {
  return event.replaceAll(/[.-]/g, '_');
}

function presentable(detail: object): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...detail };
  if (typeof fields['cron'] === 'string') fields['resource'] = hashResource(fields['cron']);
  for (const key of ['holder', 'worker']) if (typeof fields[key] === 'string') fields[key] = ownerPrefix(fields[key]);
  return fields;
}

function isNew(logged: Map<string, number>, failure: string, clock: Clock): boolean {
  const now = clock.monotonic();
  const last = logged.get(failure);
  if (last !== undefined && now - last < REPEAT_WINDOW_MS) return false;
  // Removed first, so that the map stays in the order of logging, the oldest in front.
  logged.delete(failure);
  for (const [oldest, at] of logged) {
    if (now - at < REPEAT_WINDOW_MS && logged.size < MAX_REMEMBERED) break;
    logged.delete(oldest);
  }
  logged.set(failure, now);
  return true;
}

/** Why an occurrence was skipped. */
const SKIPPED: Readonly<Record<string, string>> = {
  overlap: 'an earlier run of the cron is still open, running or waiting for a worker',
  paused: 'the cron is paused',
};

/** Text of an event, with the reason of a skip; empty for an event of a newer release. */
export function eventSentence(event: string, detail: object): string {
  const { [event]: [, sentence] = ['', ''] }: Readonly<Record<string, readonly [string, string]>> = EVENT_TEXT;
  const reason: unknown = event === 'occurrence.skipped' ? Reflect.get(detail, 'reason') : undefined;
  const why = SKIPPED[String(reason)];
  return why === undefined ? sentence : `${sentence}: ${why}`;
}
