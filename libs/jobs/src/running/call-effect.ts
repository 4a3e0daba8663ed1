import type { Clock, Fence } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { EffectTimeoutError, EffectUnknownError } from './effect-errors.js';
import type { EffectContext } from './effect-context.js';
import type { LazyAbort } from './lazy-abort.js';
import { isIndeterminate } from './indeterminate.js';

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
