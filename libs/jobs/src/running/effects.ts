import type { Act } from './call-effect.js';
import { EffectCall } from './effect-call.js';
import type { EffectDesk } from './effect-desk.js';
import { readEffectOptions, type EffectOptions } from './effect-options.js';

/** Carries out one effect of an attempt. */
export async function runEffect<T, R>(
  desk: EffectDesk,
  { name, act }: { readonly name: string; readonly act: Act<T> },
  options: EffectOptions<T, R> | undefined,
): Promise<R> {
  desk.reserve(name);
  const settings = readEffectOptions(name, options, desk.deps.criticality);
  return (await new EffectCall(desk, { name, act, settings }).carryOut()) as R;
}
