import { inspect } from 'node:util';
import { callEffect, type EffectCallOptions } from './call-effect.js';
import type { Lookup, LookupAnswer } from './effect-context.js';
import { describeError } from '../telemetry/describe-error.js';
import { EffectUnknownError } from './effect-errors.js';

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
