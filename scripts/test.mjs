import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated } from './build.mjs';
import { runInFront } from './child.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { startRedis } from './redis.mjs';
import { countOf, sentence, slowestSpecs } from './test-count.mjs';

const REPORT = join(root, '.cache/test-report.json');
const VITEST = [join(root, 'node_modules/vitest/vitest.mjs'), 'run'];
const REPORTERS = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];

/**
 * The whole suite, or the files whose path contains one of `filters`. Whatever happens, the last line is the count.
 * @param {string[]} filters
 * @param {() => Promise<{ said: string, objections: string[] }>} [beside] runs at the same time as the build and the
 *   tests; what it said comes after them, and what it objects to before the count
 * @returns {Promise<number>} the exit code: 0 when at least one test ran, none failed, and there are no objections
 */
export async function runTests(filters, beside = nothing) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  rmSync(REPORT, { force: true });
  const unprepared = await failureOf(prepare);
  const others = unprepared === null ? beside() : nothing();
  const failed = unprepared ?? (await failureOf(() => ensureBuilt({ pods: true })));
  const ended = failed ?? (await runVitest(filters).catch(asEnd));
  const { said, objections } = await others;
  if (said !== '') console.error(said);
  const count = countOf(REPORT);
  const all = [...objections, ...objectionsTo(ended, count, filters)];
  printSlowest(slowestSpecs(REPORT, root));
  for (const line of all) console.error(line);
  console.log(sentence(count));
  return all.length > 0 ? ended.code || 1 : ended.code;
}

function printSlowest(lines) {
  if (lines.length > 1) console.log(['The slowest specs:', ...lines].join('\n'));
}

/** What lint needs too: it would wait for the whole build otherwise. */
async function prepare() {
  await ensureInstalled();
  await ensureGenerated();
}

async function nothing() {
  return { said: '', objections: [] };
}

function asEnd(error) {
  return { code: 1, said: error.message };
}

/** @returns {Promise<{ code: number, said: string } | null>} */
async function failureOf(step) {
  try {
    await step();
    return null;
  } catch (error) {
    return asEnd(error);
  }
}

async function runVitest(filters) {
  const redis = await startRedis({ log: (line) => console.error(line) });
  console.error(`Redis: ${redis.how}`);
  const env = { ...process.env, REDIS_URL: redis.url };
  const ended = await runInFront([...VITEST, ...REPORTERS, ...filters], env);
  await redis.stop();
  return ended;
}

function objectionsTo({ code, leftovers, said }, { passed, failed }, filters) {
  if (said) return [said];
  const lines = [];
  if (passed + failed === 0) lines.push(`No test ran${filters.length > 0 ? ` for ${filters.join(' ')}` : ''}.`);
  else if (code !== 0 && failed === 0) lines.push(`No test failed, but vitest ended with ${code}; it says why above.`);
  if (leftovers) lines.push('A test left a process running; it has been ended, and the run counts as failed.');
  return lines;
}

await program(import.meta.url, (filters) => runTests(filters));
