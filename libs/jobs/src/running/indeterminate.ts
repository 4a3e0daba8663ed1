import { EffectUnresolvedError, EffectUnknownError } from './effect-errors.js';

/**
 * Codes of errors that come when a connection breaks, or nothing more is heard, after the request may have gone out: those of
 * Node (https://nodejs.org/api/errors.html#common-system-errors), of undici, which is behind `fetch`, and of axios.
 *
 * Not among them is what says that it never went out: ECONNREFUSED, ENOTFOUND, EAI_AGAIN, EHOSTUNREACH, UND_ERR_CONNECT_TIMEOUT.
 */
const CODES: ReadonlySet<unknown> = new Set([
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ESOCKETTIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'],
  ...['UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_ABORTED', 'UND_ERR_DESTROYED'],
]);

/** What `AbortSignal.timeout` and an abort throw; a `DOMException` has its name and not a class of its own. */
const NAMES: ReadonlySet<string> = new Set(['TimeoutError', 'AbortError']);

/** Of a chain that goes round. */
const DEEPEST = 10;

/**
 * Whether an error leaves open if what was asked for has happened. It says so itself, or it is known to come also after the
 * request was sent: also deep inside, because `fetch` says only that it failed, and why stands in the cause.
 *
 * Any other error is an answer: the other side, or the code in front of it, has refused.
 */
export function isIndeterminate(error: unknown): boolean {
  let inner = error;
  for (let depth = 0; depth < DEEPEST && inner instanceof Error; depth += 1) {
    if (inner instanceof EffectUnknownError || inner instanceof EffectUnresolvedError) return true;
    if (NAMES.has(inner.name) || CODES.has(Reflect.get(inner, 'code'))) return true;
    inner = inner.cause;
  }
  return false;
}
