import { ManualClock } from '@fencepost/lease/testing';
import { podRegistryContract } from '../../../../test/contracts/pod-registry.contract.js';
import { MemoryPodRegistry } from './memory-pod-registry.js';

podRegistryContract('the memory pod registry', async () => {
  const clock = new ManualClock();
  const registry = new MemoryPodRegistry(clock);
  // The pod under test was heard this long ago.
  let ago = 0;
  return {
    registry,
    elsewhere: registry,
    now: async () => clock.now(),
    heardAgo: async (_pod, ms) => {
      clock.jumpWall(ms - ago);
      ago = ms;
    },
    remembered: async () => registry.size,
    wipe: async () => registry.wipe(),
  };
});
