import { lint } from './lint.mjs';
import { program } from './program.mjs';
import { runTests } from './test.mjs';

/** What CI runs: what can be seen by looking, then the tests, also when something was seen; their count ends it. */
await program(import.meta.url, async (filters) => {
  const objections = await lint();
  return runTests(filters, objections);
});
