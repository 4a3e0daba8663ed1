import { leaseStoreContract } from '../../../../test/contracts/lease-store.contract.js';
import { semaphoreStoreContract } from '../../../../test/contracts/semaphore-store.contract.js';
import type { SemaphoreStoreHarness } from '../../../../test/contracts/semaphore-harness.js';
import { ManualClock } from '../testing/manual-clock.js';
import { MemorySemaphoreStore } from './memory-semaphore-store.js';

async function harness(): Promise<SemaphoreStoreHarness> {
  const clock = new ManualClock();
  const store = new MemorySemaphoreStore({ clock });
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
}

semaphoreStoreContract('the memory semaphore', harness);
leaseStoreContract('the memory semaphore with one place', harness);
