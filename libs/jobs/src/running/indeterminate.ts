import { EffectUnresolvedError, EffectUnknownError } from './effect-errors.js';

/**
 * Error codes of a connection that broke or timed out after the request may have been sent: those of
 * Node (https://nodejs.org/api/errors.html#common-system-errors), of undici, which is behind `fetch`, and of axios.
 *
 * Codes that mean it was never sent are not among them: ECONNREFUSED, ENOTFOUND, EAI_AGAIN, EHOSTUNREACH, UND_ERR_CONNECT_TIMEOUT.
 */
const CODES: ReadonlySet<unknown> = new Set([
  ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ESOCKETTIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'],
  ...['UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_ABORTED', 'UND_ERR_DESTROYED'],
]);

/** What `AbortSignal.timeout` and an abort throw; a `DOMException` has its name and not a class of its own. */
const NAMES: ReadonlySet<string> = new Set(['TimeoutError', 'AbortError']);

/** Limits a circular chain of causes. */
const DEEPEST = 10;

/**
 * Whether an error leaves the outcome of a request unknown: it is an EffectUnknownError, or may occur after the request was
 * sent. Causes are searched too, because `fetch` only says that it failed.
 *
 * Any other error is an answer: the other side, or the code before the call, refused.
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
