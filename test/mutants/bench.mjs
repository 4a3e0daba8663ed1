/**
 * A process that has one copy of the tree as its working folder, and runs specs there when it is told to. One test runner
 * for many mutants: starting it takes three times as long as a run. It ends when whoever started it is gone.
 */
import { createVitest } from 'vitest/node';

// Specs that share a process elsewhere do not here: what one mutant left in it would judge the next.
const quiet = { watch: false, reporters: [{}], isolate: true, bail: 1, testTimeout: 15_000 };
const vitest = await createVitest('test', { root: process.cwd(), ...quiet });
await vitest.standalone();

process.on('message', ({ spec, test, changed }) => {
  const trouble = (error) => ({ passed: 0, failed: [], said: error.message });
  void run(spec, test, changed)
    .catch(trouble)
    .then((answer) => process.send(answer));
});
process.on('disconnect', () => process.exit());
process.send('ready');

/** @returns {Promise<{ passed: number, failed: string[], said: string }>} */
async function run(spec, test, changed) {
  for (const file of changed) vitest.invalidateFile(file);
  if (test) vitest.setGlobalTestNamePattern(test);
  else vitest.resetGlobalTestNamePattern();
  const specifications = await vitest.globTestSpecifications([spec]);
  const result = await vitest.runTestSpecifications(specifications);
  // The runner also remembers what it ran before.
  const now = new Set(specifications.map(({ moduleId }) => moduleId));
  const modules = result.testModules.filter(({ moduleId }) => now.has(moduleId));
  const tests = modules.flatMap(({ children }) => [...children.allTests()]);
  const named = (state) => tests.filter((one) => one.result().state === state).map(({ fullName }) => fullName);
  const broken = modules.flatMap((module) => module.errors());
  const said = [...broken, ...result.unhandledErrors].map(({ message }) => message).join(' ');
  return { passed: named('passed').length, failed: named('failed'), said };
}
