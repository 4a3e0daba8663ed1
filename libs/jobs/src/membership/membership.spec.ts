import { ManualClock } from '@fencepost/lease/testing';
import { membershipContract } from '../../../../test/contracts/membership.contract.js';
import { MemoryMembership } from './memory-membership.js';
import { describe, expect, it } from 'vitest';
import { cadence } from '../../../../test/simulation/cadence.js';
import { POD_TIMING } from './pod-timing.js';

describe('memory membership', () => {
  membershipContract('the memory membership', async () => {
    const clock = new ManualClock();
    let version = 0;
    const membership = new MemoryMembership({ clock, version: () => version });
    return {
      membership,
      elsewhere: membership,
      ofFormat: (format) => membership.ofFormat(format),
      unannounced: async (pod) => membership.beatUnannounced(pod),
      now: async () => clock.now(),
      change: async () => void (version += 1),
      // It was heard just now: time goes on, or back.
      heardAgo: async (_pod, ms) => clock.jumpWall(ms),
      remembered: async () => membership.size,
    };
  });
});

describe('pod timing', () => {
  it('a pod of the simulation waits in the proportions of a real one', () => {
    expect(cadence(POD_TIMING.heartbeatMs).pod).toEqual(POD_TIMING);
  });
});
