import { systemClock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { World } from './world.js';

const EVERY_MS = 1_000;

/** Does the work, and at a terminal says on stderr what is going on and for how long, from its first second on. */
export async function whileWorking<Result>(
  what: string,
  { err, errTerminal = false }: Pick<World, 'err' | 'errTerminal'>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!errTerminal) return work();
  const begunAt = systemClock.monotonic();
  let cancel: CancelTimer | undefined;
  const tick = () => {
    const seconds = Math.round((systemClock.monotonic() - begunAt) / 1_000);
    if (seconds > 0) err(`\r\u001B[2K${what} … ${seconds} s`);
    cancel = systemClock.after(EVERY_MS, tick);
  };
  tick();
  try {
    return await work();
  } finally {
    cancel?.();
    err('\r\u001B[2K');
  }
}
