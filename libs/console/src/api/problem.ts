import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { CatalogMovedError, isStoreError } from '@fencepost/jobs/internal';
import { FencepostError } from '@fencepost/lease';
import { problemDetails } from '@fencepost/lease/http';
import { scrubText, withoutQuery } from '@fencepost/lease/internal';
import { DeclaredCronError, LeaseMovedError } from '@fencepost/operations';
import { CatalogFullError } from '@fencepost/ledger/catalog';
import { InvalidCronsError } from '@fencepost/operations/internal';
import { presentLease, presentOwnLease } from '@fencepost/operations/presenting';
import type { Holding } from '@fencepost/lease/store';
import { PROBLEM_TYPES } from './problem-types.js';
import { StateConflictError } from './problems.js';

/** Problem details (RFC 9457); what a program needs besides `code` stands beside it. */
export type Problem = ReturnType<typeof problemDetails> & Readonly<Record<string, unknown>>;

/** Errors of Express and Nest have a status alone. */
const CODES: Readonly<Record<number, string>> = {
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

/**
 * The answer to an error; one that nobody expected is described in the log alone.
 * @param isOrder whether something may have been done before
 */
export function problemOf(error: unknown, isOrder = false): Problem {
  if (error instanceof HttpException) return problemOfHttp(error);
  if (isStoreError(error)) return problem(codeOf(error), away(error, isOrder), { status: 503 });
  if (error instanceof FencepostError && PROBLEM_TYPES[error.code]) {
    return problem(error.code, error.message, { details: detailsOf(error) });
  }
  return problem('UNEXPECTED', 'Unexpected error. The log of this pod has the details.');
}

interface Besides {
  readonly status?: number;
  readonly details?: object | null;
}

function problem(code: string, detail: string, { status: given, details }: Besides = {}): Problem {
  const known = PROBLEM_TYPES[code];
  const status = given ?? known?.status ?? 500;
  const title = known?.title ?? STATUS_CODES[status] ?? 'HTTP error';
  return { ...details, ...problemDetails(code, { status, title, detail }) };
}

/** What a program needs to tell one refusal from the other, where the code alone does not say it. */
function detailsOf(error: FencepostError): object | null {
  if (error instanceof StateConflictError) return error.details;
  if (error instanceof CatalogMovedError) return { expected: error.expected, found: error.found };
  if (error instanceof LeaseMovedError) return { found: error.found && presentFound(error.resource, error.found) };
  if (error instanceof DeclaredCronError) return { apps: error.apps };
  if (error instanceof CatalogFullError) return { count: error.count, limit: error.limit };
  if (error instanceof InvalidCronsError) return { count: error.count, problems: error.problems.map(lineProblem) };
  return null;
}

/** What is wrong with a line of an import. */
export function lineProblem({ position: line, ...rest }: InvalidCronsError['problems'][number]) {
  return { line, ...rest };
}

function presentFound(resource: string, found: Holding | Parameters<typeof presentOwnLease>[0]): object {
  return 'kind' in found ? presentOwnLease(found) : presentLease({ cron: resource, ...found });
}

function problemOfHttp(error: HttpException): Problem {
  const status = error.getStatus();
  const body = error.getResponse();
  const { code, message } = typeof body === 'object' ? (body as { code?: string; message?: unknown }) : {};
  const said = typeof message === 'string' ? message : error.message;
  return problem(code ?? CODES[status] ?? 'HTTP', sentence(scrubText(withoutQuery(said))), { status });
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function codeOf(error: unknown): string {
  return error instanceof FencepostError ? error.code : 'STORE_AWAY';
}

function away(error: Error, isOrder: boolean): string {
  if (error instanceof FencepostError) return error.message;
  const todo = isOrder ? 'The order may have taken effect: check before you repeat it.' : 'Retry when it answers.';
  return `The store did not answer in time. ${todo}`;
}
