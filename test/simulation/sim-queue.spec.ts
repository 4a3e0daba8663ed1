import { expect, it } from 'vitest';
import { SimQueue, type Consumer } from './sim-queue.js';
import { runTicks } from './run-ticks.js';
import { VirtualClock } from './virtual-clock.js';

const STALLED_MS = 100;

it('a job whose end nobody heard is brought again, also when the link is whole by then', async () => {
  const clock = new VirtualClock(0);
  const queue = new SimQueue({ clock, random: () => 0, soonestMs: 1, stalledMs: STALLED_MS });
  const disposition: number[] = [];
  let isHeard = false;
  const consumer: Consumer = {
    isFree: () => true,
    isHeard: () => isHeard,
    onStalled: () => {},
    deliver: async () => {
      disposition.push(clock.monotonic());
      return { kind: 'settled' };
    },
  };
  queue.join(consumer);
  await queue.enqueue([{ runId: 'nightly@1', delivery: 1 }]);
  clock.after(STALLED_MS / 2, () => (isHeard = true));
  await runTicks(() => clock.step(5 * STALLED_MS));
  expect(disposition).toEqual([0, STALLED_MS]);
  expect(await queue.holds([{ runId: 'nightly@1', delivery: 1 }])).toEqual([null]);
});
