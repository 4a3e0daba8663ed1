import type { Clock } from '@fencepost/lease';
import { EVENT_TEXT, type EventName, type Events } from './events.js';
import { lineWriter, type EventLogger } from './log-events.js';
import type { Telemetry } from './telemetry.js';

/** The part of Nest's `Logger` that is used. */
export interface PlainLogger {
  error(line: string): void;
  warn(line: string): void;
}

const quiet = (): void => {};

/** Logged beside every event of level error. */
const ALSO: readonly EventName[] = ['attempt.failed', 'worker.empty', 'shutdown.unhooked', 'alarms.unwatched'];

const LOGGED: ReadonlySet<EventName> = new Set([
  ...(Object.keys(EVENT_TEXT) as EventName[]).filter((name) => EVENT_TEXT[name][0] === 'error'),
  ...ALSO,
]);

/**
 * Logs failures if the application logs no events itself: a run that failed for good and every other error at
 * ERROR, an attempt that is retried and likely mistakes at WARN.
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

/** `attempt failed: Error: refused (attempt_failed, cron nightly, runId nightly@1, …)`, and the stack below. */
function lineOf({ event, err, resource: _, ...fields }: Record<string, unknown>, sentence: string): string {
  const said = Object.entries(fields).map(([name, value]) => `${name} ${textOf(value)}`);
  const { type, message, stack } = Object(err) as { type?: unknown; message?: unknown; stack?: unknown };
  const what = typeof message === 'string' ? `${sentence}: ${textOf(type)}: ${message}` : sentence;
  return `${what} (${[textOf(event), ...said].join(', ')})${framesOf(stack)}`;
}

/** Without the name and the message that a stack begins with. */
function framesOf(stack: unknown): string {
  const at = typeof stack === 'string' ? stack.indexOf('\n    at ') : -1;
  return at < 0 ? '' : (stack as string).slice(at);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}
