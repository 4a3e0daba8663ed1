import { StoreAwayError } from '../base/errors.js';

/** No status of HTTP: an answer that Consul doesn't give, so that a retry would not help. */
export const UNEXPECTED = 0;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERRORS = 500;

/** Consul could not be asked, or it refused. */
export class ConsulError extends StoreAwayError {
  readonly code = 'CONSUL';

  /** @param status of HTTP; none where no answer came */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Whether another agent, or the same one later, may succeed: without a leader, Consul answers 500. */
export function isPassing(error: unknown): error is ConsulError {
  if (!(error instanceof ConsulError)) return false;
  const { status } = error;
  return status === undefined || status === TOO_MANY_REQUESTS || status >= SERVER_ERRORS;
}
