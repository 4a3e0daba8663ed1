import { benchCommand } from './command.mjs';

/** What a fence and a record cost a run, against a bare BullMQ worker in the same run. */
const BENCH = {
  name: 'bench:run',
  numbers: {
    seconds: {
      says: 'the length of all windows of each worker, for redis, postgres and transaction, and of the look at retention',
      default: 10,
      quick: 1,
    },
  },
  cases: [
    'redis',
    'ten',
    'one',
    'postgres',
    'transaction',
    'transaction-ten',
    'postgres-steps',
    'inside',
    'alone',
    'effect',
    'items',
    'heartbeats',
    'retention',
  ],
  quick: 'short windows of few runs: whether everything runs; judges nothing',
};

await benchCommand(import.meta.url, BENCH, async () => (await import('./run/run-cases.mjs')).runCases);
