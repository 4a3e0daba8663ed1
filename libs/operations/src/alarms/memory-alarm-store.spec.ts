import { ManualClock } from '@fencepost/lease/testing';
import { alarmStoreContract } from '../../../../test/contracts/alarm-store.contract.js';
import { MemoryAlarmStore } from './memory-alarm-store.js';

alarmStoreContract('the memory book', async () => {
  const clock = new ManualClock(1_000_000);
  return { store: new MemoryAlarmStore(clock), now: () => Promise.resolve(clock.now()) };
});
