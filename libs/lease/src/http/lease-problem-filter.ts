import { Catch } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { LeaseBusyError, LeaseLostError, StaleFenceError, type FencepostError } from '../base/errors.js';
import { PROBLEM_JSON, problemDetails } from '../base/problem-details.js';
import { BadFenceHeadersError } from '../sinks/fence-headers.js';

/** What a response of Express and a reply of Fastify have in common. */
interface HttpAnswer {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

/** For whoever sent the request: neither the resource nor what the author of the service could do about it. */
const PROBLEMS: Readonly<Record<string, { readonly status: number; readonly title: string; readonly detail: string }>> =
  {
    LEASE_BUSY: {
      status: 423,
      title: 'Locked',
      detail: 'Another request is at work on this. Repeat it later.',
    },
    LEASE_LOST: {
      status: 503,
      title: 'Interrupted',
      detail: 'The request was interrupted and may have taken effect in part. Check before you repeat it.',
    },
    STALE_FENCE: {
      status: 409,
      title: 'Stale fence',
      detail: 'A newer holder has written. Nothing was changed; repeating the request changes nothing.',
    },
    BAD_FENCE_HEADERS: {
      status: 400,
      title: 'No valid fence',
      detail: 'Expected the headers "fencepost-resource" and "fencepost-fence", once each and well-formed.',
    },
  };

/**
 * Answers a request that a lease or a fence has stopped, on Express and Fastify, with problem details (RFC 9457), whose `type` and
 * `code` are those of the error:
 *
 * - `LeaseBusyError`: 423, with `Retry-After` in seconds: how long the holder's term lasts unless it is renewed or released
 * - `LeaseLostError`: 503
 * - `StaleFenceError`: 409
 * - `BadFenceHeadersError`: 400
 *
 * For all controllers `{ provide: APP_FILTER, useClass: LeaseProblemFilter }`, for one `@UseFilters(LeaseProblemFilter)`.
 * Outside of HTTP the error is left to Nest.
 */
@Catch(LeaseBusyError, LeaseLostError, StaleFenceError, BadFenceHeadersError)
export class LeaseProblemFilter implements ExceptionFilter<FencepostError> {
  catch(error: FencepostError, host: ArgumentsHost): void {
    const problem = PROBLEMS[error.code];
    if (!problem || host.getType() !== 'http') return;
    const answer = host.switchToHttp().getResponse<HttpAnswer>();
    if (error instanceof LeaseBusyError) answer.header('Retry-After', String(Math.ceil(error.remainingMs / 1_000)));
    answer.header('Content-Type', PROBLEM_JSON);
    answer.status(problem.status);
    answer.send(JSON.stringify(problemDetails(error.code, problem)));
  }
}
