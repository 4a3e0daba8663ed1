import { EffectUnknownError } from '@fencepost/jobs';
import type { TortureMishap } from './mishap.js';

type Reason = 'cancel' | 'slow';

/** A call that is not let go on: whoever turns the clock is told, and lets it go on in the end. */
export class Hold {
  readonly #waiting: { readonly reason: Reason; readonly goOn: () => void }[] = [];
  readonly #told: (() => void)[] = [];

  /** What is to happen meanwhile; `null` when none is held. */
  get waits(): Reason | null {
    return this.#waiting[0]?.reason ?? null;
  }

  /** Resolves when a call is held: nobody should wait for it then. */
  held(): Promise<void> {
    if (this.#waiting.length > 0) return Promise.resolve();
    return new Promise((resolve) => this.#told.push(resolve));
  }

  /** Comes back when it is released. */
  async hold(reason: Reason): Promise<void> {
    await new Promise<void>((goOn) => {
      this.#waiting.push({ reason, goOn });
      for (const tell of this.#told.splice(0)) tell();
    });
  }

  /** The one that waits first. */
  release(): void {
    this.#waiting.shift()?.goOn();
  }
}

/** What can happen to a call, other than to a write. */
export type CallMishap = Exclude<TortureMishap, { readonly write: unknown }>;

interface Struck {
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
