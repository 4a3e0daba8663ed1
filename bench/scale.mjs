import { benchCommand } from './command.mjs';

/** What grows with the number of crons: pods as processes on a Redis of their own, for each number in turn. */
const BENCH = {
  name: 'bench:scale',
  numbers: {
    seconds: { says: 'the length of the idle window; a minute has a full sweep in it', default: 60, quick: 4 },
    pods: { says: 'scheduler pods of the idle window', default: 10, quick: 4 },
    burst: { says: 'crons that are due at one instant', default: 20_000, quick: 500 },
    kills: { says: 'how often a pod is killed; the figure is the median', default: 7, quick: 1 },
    takeover: { says: 'crons on the three pods of which one is killed', default: 10_000, quick: 300 },
  },
  lists: { crons: { says: 'numbers of crons', default: [1_000, 10_000, 100_000], quick: [100, 400] } },
  cases: ['pods', 'idle', 'takeover', 'burst'],
  quick: 'few crons and short windows: judges counts, and no times',
};

await benchCommand(import.meta.url, BENCH, async () => (await import('./scale/run-scale.mjs')).runScale);
