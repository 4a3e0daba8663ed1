/**
 * The specs that have a long form, in it: more histories, more seconds. Other arguments narrow them down. `--json` closes
 * with one line for programs: {"ok":true,"specs":20,"passed":100,"failed":0}.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runInFront } from '../../scripts/child.mjs';
import { root } from '../../scripts/exclusive.mjs';
import { startRedis } from '../../scripts/redis.mjs';
import { countOf, sentence } from '../../scripts/test-count.mjs';

const REPORT = join(root, '.cache/long-specs.json');
const ASKS = /\b(run-length|lease-store\.contract)\.js'/;

function hasLongForm(file) {
  return (
    file.endsWith('.spec.ts') && !/node_modules|dist\//.test(file) && ASKS.test(readFileSync(join(root, file), 'utf8'))
  );
}

// `npm run proof` comes through a runner, whose own name and this file's stand before the arguments.
const args = process.argv.slice(process.argv.findIndex((word) => word.endsWith('run-long-specs.mjs')) + 1);
const names = args.filter((arg) => arg !== '--json');
const all = ['libs', 'apps', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
);
const specs = all.filter(
  (file) => hasLongForm(file) && (names.length === 0 || names.some((name) => file.includes(name))),
);
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(REPORT, { force: true });
const redis = await startRedis({ log: (line) => console.error(line) });
const env = { ...process.env, REDIS_URL: redis.url, TEST_LENGTH: 'long' };
const vitest = [
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--testTimeout=600000',
  '--reporter=json',
  `--outputFile.json=${REPORT}`,
];
const { code } = await runInFront([...vitest, ...specs], env);
await redis.stop();
const { passed, failed } = countOf(REPORT);
const result = { ok: code === 0, specs: specs.length, passed, failed };
console.log(args.includes('--json') ? JSON.stringify(result) : sentence(result));
process.exitCode = code;
