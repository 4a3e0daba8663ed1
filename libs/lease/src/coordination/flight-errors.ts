import { FencepostError } from '../base/errors.js';

/** The value was not there in time, and there was none to do with meanwhile. */
export class FlightTimeoutError extends FencepostError {
  readonly code = 'FLIGHT_TIMEOUT';

  constructor(
    readonly key: string,
    readonly waitedMs: number,
  ) {
    super(
      `No value for "${key}" within the ${waitedMs} ms this waited: its build is not done yet. ` +
        `Wait longer, allow a stale value, or make the build faster; it goes on meanwhile.`,
    );
  }
}

/** The result of a build cannot be cached. Its callers get this error, and nothing was cached. */
export class FlightValueError extends FencepostError {
  readonly code = 'FLIGHT_VALUE';

  constructor(
    readonly key: string,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`The build of "${key}" returned ${detail}`, options);
  }
}
