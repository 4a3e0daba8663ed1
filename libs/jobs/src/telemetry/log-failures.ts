import type { Clock } from '@fencepost/lease';
import { EVENT_TEXT, type EventName, type Events } from './events.js';
import { lineWriter, type EventLogger } from './log-events.js';
import type { Telemetry } from './telemetry.js';

/** What Nest's `Logger` has of the two. */
export interface PlainLogger {
  error(line: string): void;
  warn(line: string): void;
}

const quiet = (): void => {};

/** Besides every event that is an error. */
const ALSO: readonly EventName[] = ['attempt.failed', 'worker.empty', 'shutdown.unhooked', 'alarms.unwatched'];

const LOGGED: ReadonlySet<EventName> = new Set([
  ...(Object.keys(EVENT_TEXT) as EventName[]).filter((name) => EVENT_TEXT[name][0] === 'error'),
  ...ALSO,
]);

/**
 * Logs failures where the application logs no events itself: a run that failed for good and everything else that is an error at
 * ERROR, an attempt that is tried again and what may be a mistake at WARN.
 * @returns a function that ends the logging
 */
export function logFailures(telemetry: Telemetry, logger: PlainLogger, clock: Clock): () => void {
  const error = (detail: Record<string, unknown>, sentence: string) => logger.error(lineOf(detail, sentence));
  const warn = (detail: Record<string, unknown>, sentence: string) => logger.warn(lineOf(detail, sentence));
  const usual: EventLogger = { error, warn, info: quiet, debug: quiet };
  const write = lineWriter(usual, clock);
  const writeFailure = lineWriter({ ...usual, warn: error }, clock);
  return telemetry.listen((name, detail) => {
    if (telemetry.isLogged) return;
    const isOver = name === 'attempt.failed' && (detail as Events['attempt.failed']).state === 'failed';
    (isOver ? writeFailure : write)(name, detail);
  }, LOGGED);
}

/** `attempt failed: Error: refused (attempt_failed, cron nightly, runId nightly@1, …)`. */
function lineOf({ event, error, err, resource: _, ...fields }: Record<string, unknown>, sentence: string): string {
  const said = Object.entries(fields).map(([name, value]) => `${name} ${textOf(value)}`);
  const what = typeof error === 'string' ? `${sentence}: ${error}` : sentence;
  return `${what} (${[textOf(event), ...said].join(', ')})${stackOf(err)}`;
}

/** A plain object by then; a stack begins with name and message. */
function stackOf(err: unknown): string {
  const { type, message, stack } = Object(err) as { type?: unknown; message?: unknown; stack?: unknown };
  if (typeof stack === 'string') return `\n${stack}`;
  return typeof message === 'string' ? `\n${textOf(type)}: ${message}` : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}
