import { ManualClock } from '@fencepost/lease/testing';
import { alarmBookContract } from '../../../../test/contracts/alarm-book.contract.js';
import { MemoryAlarmBook } from './memory-alarm-book.js';

alarmBookContract('the memory book', async () => {
  const clock = new ManualClock(1_000_000);
  return { book: new MemoryAlarmBook(clock), now: () => Promise.resolve(clock.now()) };
});
