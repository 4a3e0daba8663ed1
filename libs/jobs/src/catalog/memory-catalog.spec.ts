import { ManualClock } from '@fencepost/lease/testing';
import { catalogContract } from '../../../../test/contracts/catalog.contract.js';
import { MemoryCatalog } from './memory-catalog.js';

catalogContract('the memory catalog', async () => {
  const clock = new ManualClock();
  const catalog = new MemoryCatalog(clock);
  return { catalog, elsewhere: catalog, now: async () => clock.now() };
});
