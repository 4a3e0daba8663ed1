import { scrubText } from '@fencepost/lease/internal';
import { FencepostError, StoreAwayError } from '@fencepost/lease';
import { errorParts, frameLines, isError, messageOf, stackOf, textOf, typeOf, type ErrorParts } from './error-parts.js';
import type { Failure } from './events.js';
import type { Telemetry } from './telemetry.js';

/** Classes of ioredis, BullMQ, pg and the runtime; most of them are not exported. */
const NAMES: ReadonlySet<string> = new Set([
  ...[
    'ReplyError',
    'MaxRetriesPerRequestError',
    'ClusterAllFailedError',
    'ParserError',
    'AbortError',
    'InterruptError',
  ],
  ...['ConnectionClosedError', 'DelayedError', 'RateLimitError', 'TimeoutError'],
]);

/** Messages of errors that the clients throw as plain `Error`. */
const TEXTS = new RegExp(
  [
    // ioredis
    ...['Command timed out', 'Connection is closed', 'max retries', 'Socket', "Stream isn't writeable", 'slots cache'],
    ...['startup nodes', 'cluster is not whole', "Cluster isn't ready", 'Cluster redirections', 'All sentinels'],
    // pg
    ...['Connection terminated', 'terminating connection', 'read timeout', 'timeout expired', 'timeout exceeded'],
    ...['not queryable', 'pool after calling end', 'SASL', 'does not support SSL'],
    // BullMQ
    ...['Missing lock for job', 'Missing key for job', 'is not in the \\w+ state', 'could not renew lock'],
    ...['ECONN', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ].join('|'),
  'i',
);

/** Node's own codes name a wrong argument or a failed assertion, except where the network is concerned. */
const NODE_CODE = /^ERR_(?!TLS|SSL|SOCKET|STREAM|HTTP2)/;

/** Errors of the language. `fetch` throws a TypeError too if a server is down, but with the reason as its cause. */
const BUGS = [TypeError, ReferenceError, RangeError, SyntaxError];

/**
 * Whether a store, a queue or its client failed, so that a retry may help. Every other error that is not a FencepostError is a
 * bug: of this program, or of something that it calls.
 */
export function isStoreError(error: unknown): error is Error {
  try {
    return isOfStore(error);
  } catch {
    // A getter threw: not an error of a client.
    return false;
  }
}

function isOfStore(error: unknown): boolean {
  if (error instanceof StoreAwayError) return true;
  if (!(error instanceof Error) || error instanceof FencepostError) return false;
  if (isOfStore(error.cause)) return true;
  if (BUGS.some((bug) => error instanceof bug)) return false;
  if (error instanceof AggregateError && error.errors.some(isOfStore)) return true;
  return NAMES.has(error.name) || hasDriverCode(error) || TEXTS.test(error.message);
}

/** A system error, an SQLSTATE of PostgreSQL, a code of TLS, or the number that a script of BullMQ has answered. */
function hasDriverCode(error: Error): boolean {
  if (!('code' in error)) return false;
  return typeof error.code === 'number' || (typeof error.code === 'string' && !NODE_CODE.test(error.code));
}

/** Whether it is neither a FencepostError nor a failure of a store, so that a retry would only repeat it. */
export function isProgramError(error: unknown): boolean {
  return !(error instanceof FencepostError) && !isStoreError(error);
}

/** Longer texts add nothing in a list of runs, and would fill the store. */
const MAX_LENGTH = 2_000;

/**
 * The text of an error for records, without the secrets that libraries put into messages: every viewer of runs sees it, for
 * as long as the run is kept. NUL is replaced, because PostgreSQL cannot store it.
 */
export function describeError(error: unknown): string {
  const text = isError(error) ? `${typeOf(error)}: ${messageOf(error)}` : textOf(error);
  return scrubText(text).slice(0, MAX_LENGTH).replaceAll('\0', '\uFFFD');
}

/**
 * The same error for events and for a queue, which show its message and its stack. Without its causes: a secret that a message
 * quotes is recognised, but a cause whose message is nothing but the secret is not.
 */
export function shownError(error: unknown): Error {
  return isError(error) ? errorOf(errorParts(error)) : new Error(describeError(error));
}

function errorOf(parts: ErrorParts): Error {
  const { type, message, code, errors, errorCount } = parts;
  const shown = new Error(message);
  shown.name = type;
  shown.stack = stackOf(parts);
  return Object.assign(shown, {
    ...(code !== undefined && { code }),
    ...(errors && { errors: errors.map((one) => errorOf(withoutBareSecret(one))), errorCount }),
  });
}

/** A log line of a run has room for so much. */
const MAX_STACK = 6_000;

/**
 * The stack of an error and of its causes, to stand below its description in the log of a run: empty for what has none.
 * Scrubbed as the description is. The message of a cause that is a single long word may be nothing but a secret, and is hidden.
 */
export function stackLines(error: unknown): string {
  if (!isError(error)) return '';
  const parts = errorParts(error);
  const lines = [...frameLines(parts)];
  for (let { cause } = parts; cause; cause = cause.cause) {
    const { type, message } = withoutBareSecret(cause);
    lines.push(`Caused by: ${type}: ${message}`, ...frameLines(cause));
  }
  return lines.length === 0 ? '' : `\n${lines.join('\n').slice(0, MAX_STACK).replaceAll('\0', '\uFFFD')}`;
}

function withoutBareSecret(parts: ErrorParts): ErrorParts {
  return /^\S{16,}$/.test(parts.message) ? { ...parts, message: '***' } : parts;
}

type Emitter = Pick<Telemetry, 'emit'>;

/** The operation that failed, and what it was about. */
export type FailedOperation = Omit<Failure, 'err'>;

/** Reports that a store operation failed. A bug is reported as a bug, so that it is not taken for an outage. */
export function reportStoreFailure(telemetry: Emitter, failed: FailedOperation, error: unknown): void {
  telemetry.emit(isProgramError(error) ? 'program.failed' : 'store.failed', { ...failed, err: asError(error) });
}

/**
 * The same for a queue operation. Most of its errors are plain ones of BullMQ, whose texts change with its releases: only an error
 * of the language or of Node is taken for a bug.
 */
export function reportQueueFailure(telemetry: Emitter, failed: FailedOperation, error: unknown): void {
  telemetry.emit(isBug(error) ? 'program.failed' : 'queue.failed', { ...failed, err: asError(error) });
}

function isBug(error: unknown): boolean {
  const isOfNode = error instanceof Error && 'code' in error && NODE_CODE.test(String(error.code));
  return !isStoreError(error) && (isOfNode || BUGS.some((bug) => error instanceof bug));
}

/** For an error thrown where no store was called. */
export function reportProgramError(telemetry: Emitter, failed: FailedOperation, error: unknown): void {
  telemetry.emit('program.failed', { ...failed, err: asError(error) });
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(textOf(error));
}
