import { benchCommand } from './command.mjs';
import { CASES } from './lease/cases.mjs';

/** Leases against what one would write by hand and against other libraries, all in the same run. */
const BENCH = {
  name: 'bench:lease',
  numbers: {
    rounds: { says: 'rounds that count', default: 11, quick: 1 },
    seed: { says: 'for the order within the rounds', default: 1, min: 0 },
  },
  cases: CASES.map(({ name }) => name),
  quick: 'two operations per round and one round: whether everything runs; judges nothing',
};

await benchCommand(import.meta.url, BENCH, async () => {
  const { runCases } = await import('./lease/run-cases.mjs');
  const caseOf = (name) => CASES.find((kase) => kase.name === name);
  return (options, print) => runCases({ ...options, cases: options.cases.map(caseOf) }, print);
});
