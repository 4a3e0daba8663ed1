import { EffectUnknownError } from '@fencepost/jobs';
import type { Hold } from './hold.js';
import type { TortureMishap } from './mishap.js';

/** What can happen to a call, other than to a write. */
export type CallMishap = Exclude<TortureMishap, { readonly write: unknown }>;

export interface Struck {
  /** Comes back when its worker goes on. */
  readonly stall: () => Promise<void>;
  readonly hold: Hold;
  /** Of the function, where it is called already. */
  readonly work: Promise<unknown> | undefined;
}

/** Lets it happen; comes back when the call may go on. @throws what the engine is to hear instead of its end */
export async function strikeInCall({ kind }: CallMishap, { stall, hold, work }: Struck): Promise<void> {
  switch (kind) {
    case 'refusal':
      throw new Error('Its provider refuses, as the torture wants it.');
    case 'silence':
      await work;
      throw new EffectUnknownError('Its provider has done it and is not heard, as the torture wants it.');
    case 'stall':
      return stall();
    case 'cancel':
    case 'slow':
      return hold.hold(kind);
  }
}
