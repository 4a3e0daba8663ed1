import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { runInFront } from './child.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';

const SOURCE_RUNNER = join(root, 'test/support/run-source.mjs');

/** A proof is a program of the tests, run from its source; what it starts as processes of their own is built before. */
await program(import.meta.url, async ([file = '', ...args]) => {
  await ensureInstalled();
  await ensureBuilt({ pods: true });
  const { code, leftovers } = await runInFront([SOURCE_RUNNER, join(root, file), ...args], process.env);
  if (leftovers) console.error('It left a process running, which has been ended; it counts as failed.');
  return leftovers ? code || 1 : code;
});
