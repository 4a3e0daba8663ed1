import type { Clock } from '@fencepost/lease';
import { isError } from './error-parts.js';
import { eventLevel } from './event-level.js';
import type { EventLevel, EventName } from './events.js';
import { logLine, objectOf } from './log-line.js';
import { describeError } from './report-failure.js';
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

function lineWriter(logger: EventLogger, clock: Clock): EventListener {
  const logged = new Map<string, number>();
  return (event, detail) => {
    if (FAILURES.has(event) && !isNew(logged, failureOf(event, detail), clock)) return;
    const level = eventLevel(event, detail);
    if (logger.isLevelEnabled?.(level) === false) return;
    const line = logLine(event, detail);
    logger[level](objectOf(line), line.sentence);
  };
}

function failureOf(event: EventName, detail: object): string {
  const values = Object.values(detail).map((value: unknown) => (isError(value) ? describeError(value) : String(value)));
  return [event, ...values].join(' ');
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
