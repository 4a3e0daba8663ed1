import type { Telemetry } from './telemetry.js';

/** What the language throws at a bug, and ports at a value that is none. No client of a store reports an outage with these. */
const BUGS = [TypeError, ReferenceError, RangeError];

/**
 * Tells what went wrong while a store was asked. A bug is told as one, with its stack: called an outage, it would be looked
 * for in the wrong place.
 */
export function tellTrouble(telemetry: Pick<Telemetry, 'emit'>, doing: string, error: unknown): void {
  if (isBug(error)) tellBug(telemetry, doing, error);
  else telemetry.emit('store.trouble', { doing, error: String(error) });
}

/** Tells what went wrong while a queue was asked, as {@link tellTrouble} does. */
export function tellQueueTrouble(telemetry: Pick<Telemetry, 'emit'>, doing: string, error: unknown): void {
  if (isBug(error)) tellBug(telemetry, doing, error);
  else telemetry.emit('queue.trouble', { doing, error: String(error) });
}

/** For what was thrown where no store is asked. */
export function tellBug(telemetry: Pick<Telemetry, 'emit'>, doing: string, error: unknown): void {
  telemetry.emit('program.error', { doing, err: error instanceof Error ? error : new Error(String(error)) });
}

function isBug(error: unknown): boolean {
  return BUGS.some((bug) => error instanceof bug);
}
