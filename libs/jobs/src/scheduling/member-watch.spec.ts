import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { MemoryMembership } from '../membership/memory-membership.js';
import { POD_TIMING } from '../membership/pod-timing.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { MemberWatch } from './member-watch.js';

const { suspectAfterMs, watchMs, heartbeatMs } = POD_TIMING;

/** The watch of one pod over members that this test lets speak. */
async function watchOf(pod: string) {
  const clock = new ManualClock(0);
  const store = new MemoryMembership({ clock, version: () => 1 });
  const looks: number[] = [];
  const suspected: number[] = [];
  const members = () => {
    looks.push(clock.now());
    return store.members();
  };
  const onSuspected = () => void suspected.push(clock.now());
  const telemetry = new Telemetry();
  const watch = new MemberWatch({ ...POD_TIMING, pod, clock, telemetry, membership: { members }, onSuspected });
  const beat = (...pods: string[]) => Promise.all(pods.map((one) => store.beat(one, 'pod')));
  return { watch, clock, beat, looks, suspected, apply: async () => watch.apply(await store.members()) };
}

describe('the watch over the other members', () => {
  it.each(['a', 'b'])('of %s, among the first two, suspects a silent first or third one at once', async (pod) => {
    const { watch, clock, beat, suspected, apply } = await watchOf(pod);
    const silent = pod === 'a' ? 'c' : 'a';
    await beat('a', 'b', 'c');
    await apply();
    await clock.advance(heartbeatMs);
    await beat(...['a', 'b', 'c'].filter((one) => one !== silent));
    await clock.advance(suspectAfterMs - heartbeatMs);
    expect(suspected).toEqual([]);
    await clock.advance(1);
    expect(suspected).toEqual([suspectAfterMs + 1]);
    await watch.stop();
  });

  it('goes on while somebody is suspected, and with the others afterwards', async () => {
    const { watch, clock, beat, suspected, apply } = await watchOf('a');
    await beat('a', 'b', 'c');
    await apply();
    await clock.advance(suspectAfterMs + 1);
    await beat('a', 'c');
    await clock.advance(watchMs);
    expect(suspected).toEqual([suspectAfterMs + 1, suspectAfterMs + 1 + watchMs]);
    await watch.stop();
  });

  it('is that of two pods: a third one looks at nobody', async () => {
    const { watch, clock, beat, looks, apply } = await watchOf('c');
    await beat('a', 'b', 'c');
    await apply();
    await clock.advance(2 * suspectAfterMs);
    expect(looks).toEqual([]);
    await watch.stop();
  });

  it('looks at most five times a second, however many members beat in turn', async () => {
    const { watch, clock, beat, looks, suspected, apply } = await watchOf('p00');
    const pods = Array.from({ length: 50 }, (_, n) => `p${String(n).padStart(2, '0')}`);
    await beat(...pods);
    await apply();
    for (let round = 0; round < 10; round += 1) {
      for (const pod of pods) {
        await beat(pod);
        await clock.advance(heartbeatMs / pods.length);
      }
    }
    expect(suspected).toEqual([]);
    expect(looks.length).toBeGreaterThan(10);
    expect(looks.length).toBeLessThanOrEqual(50);
    await watch.stop();
  });
});
