import { ManualClock } from '@fencepost/lease/testing';
import { catalogContract } from '../../../../test/contracts/catalog.contract.js';
import { ZONE_DATA } from '../../../../test/contracts/catalog/stage.js';
import { MemoryCatalog } from './memory-catalog.js';

catalogContract('the memory catalog', async (options) => {
  const clock = new ManualClock();
  const catalog = new MemoryCatalog(clock, { zoneData: ZONE_DATA, ...options });
  return {
    ...{ catalog, elsewhere: catalog, now: async () => clock.now() },
    age: (ms) => clock.advance(ms),
    wipe: async () => catalog.wipe(),
  };
});
