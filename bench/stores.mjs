import { register } from 'node:module';
import { benchCommand } from './command.mjs';
import { STORES } from './stores/names.mjs';

/** What an acquire costs in each lease store, against the least that its server can be asked, all in the same run. */
const BENCH = {
  name: 'bench:stores',
  numbers: {
    rounds: { says: 'rounds that count', default: 11, quick: 1 },
    seed: { says: 'for the order within the rounds', default: 1, min: 0 },
  },
  cases: STORES,
  quick: 'two acquires per round and one round: whether everything runs',
};

await benchCommand(import.meta.url, BENCH, async () => {
  // The servers are those of the tests, which are not built.
  register('../test/support/source-hooks.mjs', import.meta.url);
  const { runStores } = await import('./stores/run-stores.mjs');
  return runStores;
});
