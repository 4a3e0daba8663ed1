import { join } from 'node:path';
import { runInFront } from './child.mjs';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';
import { runTests } from './test.mjs';

const LINT = join(root, 'scripts/lint.mjs');

/** What CI runs: the build and the tests, with lint beside them; the count ends it. */
await program(import.meta.url, (filters) => runTests(filters, lint));

/**
 * A process of its own, because each of its tools blocks it. It yields to the tests, some of which measure time, and runs
 * while they wait.
 */
async function lint() {
  const { code, out } = await runInFront([LINT], process.env, { stdout: 'pipe', stderr: 'pipe', yielding: true });
  const said = out.trim();
  return { said, objections: code === 0 ? [] : [said.split('\n').at(-1) || `Lint ended with ${code}.`] };
}
