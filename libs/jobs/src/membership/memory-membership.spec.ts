import { ManualClock } from '@fencepost/lease/testing';
import { membershipContract } from '../../../../test/contracts/membership.contract.js';
import { MemoryMembership } from './memory-membership.js';

membershipContract('the memory membership', async () => {
  const clock = new ManualClock();
  let version = 0;
  const membership = new MemoryMembership({ clock, version: () => version });
  return {
    membership,
    elsewhere: membership,
    now: async () => clock.now(),
    change: async () => void (version += 1),
    // It was heard just now: time goes on, or back.
    heardAgo: async (_pod, ms) => clock.jumpWall(ms),
    remembered: async () => membership.size,
  };
});
