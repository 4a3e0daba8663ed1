import { HttpException } from '@nestjs/common';
import { CatalogMovedError, isStoreError } from '@fencepost/jobs/internal';
import { FencepostError } from '@fencepost/lease';
import { scrubText, withoutQuery } from '@fencepost/lease/internal';
import { LeaseMovedError } from '@fencepost/operations';
import { presentLease, presentOwnLease } from '@fencepost/operations/presenting';
import type { Holding } from '@fencepost/lease/store';
import { StateConflictError } from './problems.js';

/** What whoever asked is told. */
export interface Problem {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

const STATUS: Readonly<Record<string, number>> = {
  CRON_UNKNOWN: 404,
  RECEIVER_UNKNOWN: 404,
  RUN_UNKNOWN: 404,
  OPERATOR_INPUT: 400,
  CRON_DECLARATION: 400,
  SCHEDULE: 400,
  RUN_STATE: 409,
  STATE_CONFLICT: 409,
  CATALOG_MOVED: 409,
  LEASE_MOVED: 409,
  DEFINITION_CONFLICT: 409,
  IDEMPOTENCY_KEY: 409,
};

const NAMES: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'NOT_ALLOWED',
  413: 'TOO_LARGE',
  415: 'NOT_JSON',
  429: 'TOO_MANY_REQUESTS',
  503: 'AWAY',
};

/** What a person is told of an error: of what nobody expected nothing but that it is in the log. */
export function problemOf(error: unknown): Problem {
  if (error instanceof HttpException) return problemOfHttp(error);
  if (error instanceof FencepostError && STATUS[error.code] !== undefined) {
    const details = detailsOf(error);
    return {
      statusCode: STATUS[error.code] ?? 500,
      code: error.code,
      message: error.message,
      ...(details && { details }),
    };
  }
  if (isStoreError(error)) return { statusCode: 503, code: codeOf(error), message: away(error) };
  return {
    statusCode: 500,
    code: 'UNEXPECTED',
    message: 'Unexpected error. The log of this pod has the details.',
  };
}

/** What a program needs to tell one refusal from the other, where the code alone does not say it. */
function detailsOf(error: FencepostError): object | null {
  if (error instanceof StateConflictError) return error.details;
  if (error instanceof CatalogMovedError) return { expected: error.expected, found: error.found };
  if (error instanceof LeaseMovedError) return { found: error.found && presentFound(error.resource, error.found) };
  return null;
}

function presentFound(resource: string, found: Holding | Parameters<typeof presentOwnLease>[0]): object {
  return 'kind' in found ? presentOwnLease(found) : presentLease({ cron: resource, ...found });
}

function problemOfHttp(error: HttpException): Problem {
  const statusCode = error.getStatus();
  const body = error.getResponse();
  const { code, message } = typeof body === 'object' ? (body as Partial<Problem>) : {};
  const said = typeof message === 'string' ? message : error.message;
  return { statusCode, code: code ?? NAMES[statusCode] ?? 'HTTP', message: sentence(scrubText(withoutQuery(said))) };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function codeOf(error: unknown): string {
  return error instanceof FencepostError ? error.code : 'STORE_AWAY';
}

function away(error: Error): string {
  if (error instanceof FencepostError) return error.message;
  return 'The store did not answer in time. The order may have taken effect: check before you repeat it.';
}
