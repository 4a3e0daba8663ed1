import { leaseStoreContract } from '../../../../test/contracts/lease-store.contract.js';
import { MemoryLeaseStore } from './memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';

leaseStoreContract('the memory store', async () => {
  const clock = new ManualClock();
  const store = new MemoryLeaseStore({ clock });
  return {
    store,
    untilFree: async (resource) => {
      const [holding] = await store.inspect([resource]);
      await clock.advance(holding?.remainingMs ?? 0);
    },
    clockGoesBack: async (_resource, ms) => clock.jumpWall(-ms),
    lose: async () => {
      store.clear();
      // A restart takes longer than the microsecond between two fences.
      await clock.advance(1);
    },
    close: async () => {},
  };
});
