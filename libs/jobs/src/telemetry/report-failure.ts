import type { Failure } from './events.js';
import { isProgramError } from './store-error.js';
import type { Telemetry } from './telemetry.js';

type Emitter = Pick<Telemetry, 'emit'>;

/** The operation that failed, and what it was about. */
export type FailedOperation = Omit<Failure, 'err'>;

/** Reports that a store operation failed. A bug is reported as a bug, so that it is not taken for an outage. */
export function reportStoreFailure(telemetry: Emitter, failed: FailedOperation, error: unknown): void {
  telemetry.emit(isProgramError(error) ? 'program.failed' : 'store.failed', { ...failed, err: asError(error) });
}

/** The same for a queue operation. */
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
