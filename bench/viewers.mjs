import { benchCommand } from './command.mjs';

/** What people who look at a scheduler pod cost the crons that it acts for: against a calm window in the same run. */
const BENCH = {
  name: 'bench:viewers',
  numbers: {
    seconds: { says: 'the length of each of the two windows', default: 60, quick: 4 },
    viewers: { says: 'how many look at the pod', default: 50, quick: 10 },
    crons: { says: 'how many crons fire each second', default: 10, quick: 3 },
  },
  quick: 'few viewers and short windows: whether everything runs; judges nothing',
};

await benchCommand(import.meta.url, BENCH, async () => (await import('./viewers/run.mjs')).run);
