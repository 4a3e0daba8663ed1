import { benchCommand } from './command.mjs';

/** Whether services that share a Redis, and the builds of a rolling deploy, run each instant, and as soon as one service alone. */
const BENCH = {
  name: 'bench:routing',
  numbers: { seconds: { says: 'the length of each window', default: 60, quick: 6 } },
  lists: { services: { says: 'services that share a Redis, case by case', default: [1, 2, 4, 8], quick: [1, 2] } },
  quick: 'short windows and few services: whether every instant runs; judges no lateness',
};

await benchCommand(import.meta.url, BENCH, async () => (await import('./routing/run-routing.mjs')).runRouting);
