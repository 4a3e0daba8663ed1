import { benchCommand } from './command.mjs';

/** From the instant to the handler, and what it costs: against BullMQ's Job Schedulers and @nestjs/schedule in the same run. */
const BENCH = {
  name: 'bench:tick',
  numbers: { seconds: { says: 'the length of each window', default: 15, quick: 3 } },
  cases: ['handover', 'one', 'thousand', 'overload', 'burst', 'idle', 'alone', 'timers'],
  quick: 'small numbers and short windows: whether everything runs; judges nothing',
};

await benchCommand(import.meta.url, BENCH, async () => (await import('./tick/run-cases.mjs')).runCases);
