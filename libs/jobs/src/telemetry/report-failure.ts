import type { Failure } from './events.js';
import { isProgramError } from './store-error.js';
import type { Telemetry } from './telemetry.js';

type Emitter = Pick<Telemetry, 'emit'>;

/** The operation that failed, and what it was about in fields of their own. */
export type FailedOperation = Omit<Failure, 'err'>;

/** Reports that an operation on a store failed. A bug is reported as one, so that nobody looks for an outage. */
export function reportStoreFailure(telemetry: Emitter, failed: FailedOperation, error: unknown): void {
  telemetry.emit(isProgramError(error) ? 'program.failed' : 'store.failed', { ...failed, err: asError(error) });
}

/** The same for an operation on a queue. */
export function reportQueueFailure(telemetry: Emitter, failed: FailedOperation, error: unknown): void {
  telemetry.emit(isProgramError(error) ? 'program.failed' : 'queue.failed', { ...failed, err: asError(error) });
}

/** For an error thrown where no store was called. */
export function reportProgramError(telemetry: Emitter, failed: FailedOperation, error: unknown): void {
  telemetry.emit('program.failed', { ...failed, err: asError(error) });
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
