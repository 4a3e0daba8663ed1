import { join } from 'node:path';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';
import { countOf } from './test-count.mjs';
import { runTests } from './test.mjs';

const REPORT = join(root, '.cache/test-report.json');
const BROWSER = 'test/browser/';
const OURS = new Set(['--json', '--screenshots']);

/**
 * The pages in a real browser, before real pods. Names narrow the specs down, other arguments are vitest's. The last line is
 * the count; with `--json` it is that as JSON, and with `--screenshots` the pictures of docs/images are made anew.
 */
await program(import.meta.url, async (args) => {
  if (args.includes('--screenshots')) process.env.FENCEPOST_SCREENSHOTS = 'true';
  const others = args.filter((arg) => !OURS.has(arg));
  const names = others
    .filter((arg) => !arg.startsWith('-'))
    .map((arg) => (arg.startsWith('test/') ? arg : BROWSER + arg));
  const options = others.filter((arg) => arg.startsWith('-'));
  const code = await runTests([...(names.length > 0 ? names : [BROWSER]), ...options]);
  if (!args.includes('--json')) return code;
  const { passed, failed } = countOf(REPORT);
  console.log(JSON.stringify({ ok: code === 0, passed, failed }));
  return code;
});
