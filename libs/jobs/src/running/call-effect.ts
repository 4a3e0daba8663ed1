import { inspect } from 'node:util';
import type { Clock, Fence } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { EffectTimeoutError, EffectUnknownError, EffectUnresolvedError } from './errors.js';
import type { EffectContext, Lookup, LookupAnswer } from './effect-options.js';
import type { LazyAbort } from './lazy-abort.js';
import { describeError } from '../telemetry/report-failure.js';

export type Act<T> = (context: EffectContext) => Promise<T> | T;

/** How one call of a side effect ended. `failed`: it has not happened. `silent`: unknown. */
type Ended<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'silent'; readonly error: unknown };

export interface EffectCallOptions<T> {
  /** For messages. */
  readonly name: string;
  readonly fence: Fence;
  readonly idempotencyKey: string;
  readonly clock: Clock;
  /** Of the attempt. */
  readonly end: LazyAbort;
  readonly timeoutMs: number | null;
  /** Called with a result that arrives after the timeout. */
  readonly onLate?: (value: T) => void;
  /** Calls it within a span of its own. */
  readonly traced?: TraceCall | null;
}

export type TraceCall = <T>(work: () => Promise<T>) => Promise<T>;

const NOTHING: CancelTimer = () => {};

/** Calls a side effect once. Never rejects: the result says how it ended. */
export function callEffect<T>(act: Act<T>, options: EffectCallOptions<T>): Promise<Ended<T>> {
  return options.traced ? options.traced(() => callOnce(act, options)) : callOnce(act, options);
}

async function callOnce<T>(act: Act<T>, options: EffectCallOptions<T>): Promise<Ended<T>> {
  const { fence, idempotencyKey, end, timeoutMs } = options;
  if (timeoutMs !== null) return callInTime(act, { ...options, timeoutMs });
  return settled(call(act, { fence, idempotencyKey, signal: end.signal }), end);
}

async function callInTime<T>(act: Act<T>, options: EffectCallOptions<T> & { timeoutMs: number }): Promise<Ended<T>> {
  const { name, fence, idempotencyKey, clock, end, timeoutMs, onLate } = options;
  const controller = new AbortController();
  const pass = () => controller.abort(end.signal.reason);
  end.signal.addEventListener('abort', pass, { once: true });
  if (end.over) pass();
  const work = call(act, { fence, idempotencyKey, signal: controller.signal });
  let cancel = NOTHING;
  const indeterminate = new Promise<Ended<T>>((resolve) => {
    cancel = clock.after(timeoutMs, () => {
      const cause = new EffectTimeoutError(name, timeoutMs);
      controller.abort(cause);
      const text = `The outcome of "${name}" is unknown: it timed out after ${timeoutMs} ms.`;
      // A late error leaves the outcome unknown; a late result is a fact.
      work.then(onLate, () => {});
      resolve({ kind: 'silent', error: new EffectUnknownError(text, { cause }) });
    });
  });
  const ended = await Promise.race([settled(work, end), indeterminate]);
  cancel();
  end.signal.removeEventListener('abort', pass);
  return ended;
}

async function call<T>(act: Act<T>, context: EffectContext): Promise<T> {
  return act(context);
}

async function settled<T>(work: Promise<T>, end: LazyAbort): Promise<Ended<T>> {
  try {
    return { kind: 'returned', value: await work };
  } catch (error) {
    // A call that was aborted half-way may have succeeded before: that is no failure.
    return { kind: end.over || isIndeterminate(error) ? 'silent' : 'failed', error };
  }
}

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

type LookupOptions = EffectCallOptions<unknown> & { readonly since: number; readonly ageMs: number };

/**
 * Asks the provider for the outcome of an effect.
 * @throws {EffectUnknownError} if the lookup threw or returned an invalid answer
 */
export async function lookUp(lookup: Lookup<unknown>, options: LookupOptions): Promise<LookupAnswer<unknown>> {
  const { name, since, ageMs } = options;
  const about = { since: new Date(since), ageMs };
  const ended = await callEffect((context) => lookup({ ...context, ...about }), options);
  if (ended.kind !== 'returned') {
    const text = `The outcome of "${name}" is unknown: its lookup failed (${describeError(ended.error)}).`;
    throw new EffectUnknownError(text, { cause: ended.error });
  }
  const answer: unknown = ended.value;
  if (isAnswer(answer)) return answer;
  throw new EffectUnknownError(
    `Expected 'not-done', 'unknown' or { done: result } from the lookup of "${name}", got ${inspect(answer, { depth: 0 })}.`,
  );
}

function isAnswer(answer: unknown): answer is LookupAnswer<unknown> {
  if (answer === 'not-done' || answer === 'unknown') return true;
  return typeof answer === 'object' && answer !== null && Object.hasOwn(answer, 'done');
}
