import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { Pod } from '../support/pod.js';

/** A pod waits 10 s for its runs by default; one that takes longer is not waiting for them. */
const IN_ORDER_WITHIN_MS = 30_000;

/** SIGTERM. @returns what was wrong with how it ended */
export async function orderlyEnd(pod: Pod): Promise<string | undefined> {
  const late = new AbortController();
  const terminated = pod.terminate();
  const inTime = await Promise.race([terminated, sleep(systemClock, IN_ORDER_WITHIN_MS, late.signal)]);
  late.abort();
  if (inTime) {
    const isOrderly = inTime.code === 0 || inTime.signal === 'SIGTERM';
    return isOrderly ? undefined : `${pod.name} (${inTime.signal ?? inTime.code})\n${pod.lastLines()}`;
  }
  await pod.kill();
  return `${pod.name} (did not end within ${IN_ORDER_WITHIN_MS} ms)\n${pod.lastLines()}`;
}
