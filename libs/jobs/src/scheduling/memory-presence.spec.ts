import { ManualClock } from '@fencepost/lease/testing';
import { presenceContract } from '../../../../test/contracts/presence.contract.js';
import { MemoryPresence } from './memory-presence.js';

presenceContract('the memory presence', async () => {
  const clock = new ManualClock();
  let version = 0;
  const presence = new MemoryPresence({ clock, version: () => version });
  return {
    presence,
    elsewhere: presence,
    now: async () => clock.now(),
    change: async () => void (version += 1),
    // It was heard just now: time goes on, or back.
    heardAgo: async (_pod, ms) => clock.jumpWall(ms),
    remembered: async () => presence.size,
  };
});
