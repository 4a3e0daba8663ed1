import type { Act } from './call-effect.js';
import { EffectCall } from './effect-call.js';
import type { EffectSession } from './effect-session.js';
import { readEffectOptions, type EffectOptions } from './effect-options.js';

/** Carries out one effect of an attempt. */
export async function runEffect<T, R>(
  session: EffectSession,
  { name, act }: { readonly name: string; readonly act: Act<T> },
  options: EffectOptions<T, R> | undefined,
): Promise<R> {
  session.reserve(name);
  const settings = readEffectOptions(name, options, session.deps.criticality);
  return (await new EffectCall(session, { name, act, settings }).execute()) as R;
}
