import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { startRedis } from './redis.mjs';
import { tool } from './tool.mjs';

const STATE = '.cache/mutation';
const SHORT_FILES = 3;
/** Of a package whose properties take seconds: by how much to multiply their runs, because each mutant repeats them. */
const RANDOM_RUNS = { schedule: '0.02' };
/** Helpers of tests and generated code: no spec beside them would notice a change. */
const UNMEASURED = ['testing', 'client'];

const HELP = `npm run mutation -- [options]

Stryker changes one expression of a package at a time and runs the unit specs of that package against each change. The score
is the percentage of changes that a spec notices. Results are kept in ${STATE}: the next run repeats what has changed since.

  --packages <names>   some of ${packages().join(',')}; default all
  --files <globs>      only these sources, relative to src of the package, for example "zone.ts,store/*.ts"
  --short              ${SHORT_FILES} sources of each package
  --static             also what is computed once, when a module is loaded; each such change takes all specs
  --force              repeat also what has not changed
  --json               only the closing line on stdout; everything else goes to stderr
  -h, --help           this

The last line is {"ok","seconds","packages":[{"package","ok","score","scoreOfCovered","mutants":{"Killed",...},"seconds"}]}.
"scoreOfCovered" leaves out what no unit spec executes. A low score is no failure; exit code 1 when a package could not be measured.`;

/** Of each package: those that have a spec beside a source. */
function packages() {
  return readdirSync(join(root, 'libs')).filter((name) => !UNMEASURED.includes(name) && specsOf(name).length > 0);
}

function specsOf(name) {
  return sourcesOf(name).filter((file) => file.endsWith('.spec.ts'));
}

/** Relative to `src`, sorted. */
function sourcesOf(name) {
  const files = readdirSync(join(root, 'libs', name, 'src'), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts') && !file.startsWith('testing/')).toSorted();
}

/** Spread over the sources that have a spec of their own: which of them does not depend on where a package keeps them. */
export function shortSelection(sources, count = SHORT_FILES) {
  const specified = sources.filter((file) => sources.includes(file.replace(/\.ts$/, '.spec.ts')));
  const wanted = Math.min(count, specified.length);
  return Array.from({ length: wanted }, (_, index) => specified[Math.floor((index * specified.length) / wanted)]);
}

/**
 * Stryker's options for one package.
 * @param {string} name
 * @param {{ files: string[], force: boolean, static?: boolean }} selection
 */
export function strykerOptions(name, { files, force, static: withStatic = false }) {
  const globs = files.length > 0 ? files : ['**/*.ts'];
  const kits = existsSync(join(root, 'libs', name, 'src/testing')) ? ['testing/**'] : [];
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'vitest.mutation.config.ts', dir: `libs/${name}` },
    mutate: [...globs, ...['**/*.spec.ts', '**/*.stage.ts', ...kits].map((glob) => `!${glob}`)].map((glob) =>
      within(name, glob),
    ),
    ignorePatterns: ['dist', 'bundle', 'docs', 'ops', '.cache'],
    tempDirName: `${STATE}/copy`,
    incremental: true,
    incrementalFile: `${STATE}/${name}.incremental.json`,
    force,
    // A change of what is computed once, when a module is loaded, would need every spec of the package in a new process.
    ignoreStatic: !withStatic,
    concurrency: 1,
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 15,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: reportOf(name) },
    allowConsoleColors: false,
    allowEmpty: false,
    logLevel: 'warn',
  };
}

function within(name, glob) {
  return glob.startsWith('!') ? `!libs/${name}/src/${glob.slice(1)}` : `libs/${name}/src/${glob}`;
}

function reportOf(name) {
  return `${STATE}/${name}.report.json`;
}

/** What became of the mutants: a timeout is noticed too, and what could not be compiled or was left out does not count. */
export function scoreOf(mutants) {
  const counts = {};
  for (const { status } of mutants) counts[status] = (counts[status] ?? 0) + 1;
  const { Killed = 0, Timeout = 0, Survived = 0, NoCoverage = 0 } = counts;
  const noticed = Killed + Timeout;
  return {
    score: percent(noticed, noticed + Survived + NoCoverage),
    scoreOfCovered: percent(noticed, noticed + Survived),
    mutants: counts,
  };
}

function percent(part, whole) {
  return whole === 0 ? null : Math.round((1_000 * part) / whole) / 10;
}

function measure(name, { files, short, ...options }) {
  const since = performance.now();
  const config = `${STATE}/${name}.stryker.json`;
  const selected = short ? shortSelection(sourcesOf(name)) : files;
  writeFileSync(join(root, config), JSON.stringify(strykerOptions(name, { files: selected, ...options })));
  rmSync(join(root, reportOf(name)), { force: true });
  process.env.FC_RUNS = RANDOM_RUNS[name] ?? '1';
  const ok = tool('stryker', ['run', config]);
  const score = ok ? scoreOf(mutantsIn(name)) : {};
  return { package: name, ok, ...score, seconds: Math.round((performance.now() - since) / 1_000) };
}

/** Of the run before also those in sources that were not selected now, which Stryker keeps in its report. */
function mutantsIn(name) {
  const { files } = JSON.parse(readFileSync(join(root, reportOf(name)), 'utf8'));
  return Object.values(files).flatMap(({ mutants }) => mutants);
}

/** @param {string[]} args */
function readOptions(args) {
  const flag = { type: 'boolean', default: false };
  const list = { type: 'string' };
  const flags = { short: flag, static: flag, force: flag, json: flag, help: { ...flag, short: 'h' } };
  const options = { ...flags, packages: list, files: list };
  const values = parseArgs({ args, options }).values;
  const names = values.packages?.split(',') ?? packages();
  const unknown = names.find((name) => !packages().includes(name));
  if (unknown !== undefined) {
    throw new Error(`Expected --packages out of ${packages().join(', ')}, got ${JSON.stringify(unknown)}.`);
  }
  return { ...values, packages: names, files: values.files?.split(',') ?? [] };
}

async function withRedis(task) {
  const redis = await startRedis({ log: (line) => console.error(line) });
  // Always the same draws, so that results can be kept.
  Object.assign(process.env, { REDIS_URL: redis.url, FC_SEED: '1' });
  try {
    return task();
  } finally {
    await redis.stop();
  }
}

function rowOf({ package: name, ok, score, scoreOfCovered, seconds }) {
  if (!ok) return `FAIL libs/${name} (${seconds} s)`;
  return `libs/${name}: ${score} % of all changes noticed, ${scoreOfCovered} % of those that a spec executes (${seconds} s)`;
}

await program(import.meta.url, async (args) => {
  const options = readOptions(args);
  if (options.help) return console.log(HELP);
  const print = options.json ? console.error : console.log;
  await ensureInstalled();
  mkdirSync(join(root, STATE), { recursive: true });
  const since = performance.now();
  const measured = await withRedis(() =>
    options.packages.map((name) => {
      const result = measure(name, options);
      print(rowOf(result));
      return result;
    }),
  );
  const ok = measured.every((result) => result.ok);
  console.log(JSON.stringify({ ok, seconds: Math.round((performance.now() - since) / 1_000), packages: measured }));
  return ok ? 0 : 1;
});
