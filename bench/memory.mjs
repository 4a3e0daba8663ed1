import { benchCommand } from './command.mjs';

/** What the records take in Redis, against the jobs of a bare BullMQ worker on the same server, and a scheduler pod whose page is looked at. */
const BENCH = {
  name: 'memory',
  numbers: {
    runs: { says: 'finished runs, and as many effects and bare jobs', default: 20_000, quick: 2_000 },
    crons: { says: 'idle crons', default: 1_000, quick: 100 },
    viewed: { says: 'crons of the pod whose page is looked at', default: 10_000, quick: 200 },
  },
  quick: 'few of everything: whether everything runs; judges nothing',
};

await benchCommand(import.meta.url, BENCH, async () => (await import('./memory/measure-memory.mjs')).measureMemory);
