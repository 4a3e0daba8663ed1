import { ManualClock } from '@fencepost/lease/testing';
import { journalContract } from '../../../../test/contracts/journal.contract.js';
import { MemoryJournal } from './memory-journal.js';

journalContract('the memory journal', async (limits) => {
  const clock = new ManualClock();
  const journal = new MemoryJournal({ clock, limits });
  return { journal, elsewhere: journal, now: async () => clock.now(), pass: async (ms) => clock.jumpWall(ms) };
});
