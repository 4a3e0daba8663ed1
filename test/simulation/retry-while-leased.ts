import { sleep } from '@fencepost/lease/internal';
import type { SimProcess } from './sim-process.js';

/** What a start needs, asked again until it is there. */
export async function retryWhileLeased(
  process: SimProcess,
  everyMs: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await ask();
      return;
    } catch {
      await sleep(process.clock, everyMs);
    }
  }
}
