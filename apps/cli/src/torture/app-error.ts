import { FencepostError } from '@fencepost/lease';

/** The program under torture can't be looked at: nothing can be said for it, which is no better than something against it. */
export class AppError extends FencepostError {
  readonly code = 'TORTURE_APP';
}
