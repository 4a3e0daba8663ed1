import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated } from './build.mjs';
import { complaints, inspectBoundaries } from './boundaries.mjs';
import { root } from './exclusive.mjs';
import { apiReports } from './api-reports.mjs';
import { exportedNames, overBudget } from './exports.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { manifests, published } from './release/manifests.mjs';
import { listen } from './tool.mjs';

const PACKED = join(root, '.cache/packed');
/** What did not change since it was checked last is not read again. */
const PRETTIER_CACHE = [
  ...['--cache', '--cache-strategy', 'content'],
  ...['--cache-location', join(root, '.cache/prettier.json')],
];
const PUBLISHED = published(manifests());

/** @typedef {{ name: string, step: () => boolean | Promise<boolean> }} Step */

/** @type {Step[]} */
const STEPS = [
  { name: 'format', step: () => run('prettier', '--check', '--log-level', 'warn', ...PRETTIER_CACHE, '.') },
  { name: 'rules and types', step: () => run('oxlint') },
  { name: 'boundaries', step: checkBoundaries },
  { name: 'exports budget', step: countExports },
  { name: 'workflows', step: checkWorkflows },
  { name: 'nothing unused', step: () => run('knip', '--no-config-hints') },
];

/**
 * Check the packages as they would be published, packed outside of the sources, because tests may be reading those.
 * @type {Step[]}
 */
const AFTER_BUILD = [
  // What nothing imports has no types: the command line.
  ...PUBLISHED.flatMap(([folder, { exports }]) => [packageOf(folder), ...(exports ? [typesOf(folder)] : [])]),
  { name: 'API reports', step: compareReports },
];

/** @returns {Step} */
function packageOf(folder) {
  return { name: `package of ${folder}`, step: () => pack(folder) && run('publint', tarball(folder), '--strict') };
}

/** @returns {Step} */
function typesOf(folder) {
  const step = () => run('attw', tarball(folder), '--profile', 'esm-only', '--format', 'ascii');
  return { name: `types of ${folder}`, step };
}

/**
 * All steps, also after one that failed, so that everything can be mended at once.
 * @param {readonly Step[]} steps
 * @returns {Promise<string[]>} what is not in order, as a sentence, or nothing
 */
async function lint(steps) {
  await ensureInstalled();
  await ensureGenerated();
  const failed = [];
  for (const { name, step } of steps) {
    const since = performance.now();
    const well = await step();
    if (!well) failed.push(name);
    console.error(`${well ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
  }
  return failed.length > 0 ? [`Not in order: ${failed.join(', ')}; see above.`] : [];
}

/** Silent when well: attw prints a page of ticks, and what is wrong should not stand behind it. */
function run(name, ...args) {
  const { well, said } = listen(name, args);
  if (!well) console.error(said);
  return well;
}

async function checkBoundaries() {
  const lines = complaints(await inspectBoundaries(root));
  for (const line of lines) console.error(line);
  return lines.length === 0;
}

function countExports() {
  const lines = overBudget(exportedNames(root));
  for (const line of lines) console.error(line);
  return lines.length === 0;
}

/** The tool takes one file at a time. */
function checkWorkflows() {
  const folder = '.github/workflows';
  return readdirSync(join(root, folder)).every((file) => run('action-validator', `${folder}/${file}`));
}

/** What users can import changes only where a diff shows it. */
async function compareReports() {
  const lines = await apiReports();
  for (const line of lines) console.error(line);
  return lines.length === 0;
}

async function build() {
  try {
    await ensureBuilt();
    return true;
  } catch (error) {
    console.error(error.message);
    return false;
  }
}

function tarball(lib) {
  return join(PACKED, lib, 'package.tgz');
}

function pack(lib) {
  const folder = join(PACKED, lib);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--silent', '--pack-destination', folder];
  const { status, stderr } = spawnSync('npm', args, { cwd: join(root, lib), encoding: 'utf8' });
  const [file] = readdirSync(folder);
  if (status === 0 && file) renameSync(join(folder, file), tarball(lib));
  else console.error(`"npm pack" failed in ${lib}: ${stderr}`);
  return status === 0 && file !== undefined;
}

// What needs no build first: beside the tests, another process builds meanwhile.
await program(import.meta.url, async () => {
  const objections = await lint([...STEPS, { name: 'build', step: build }, ...AFTER_BUILD]);
  for (const line of objections) console.error(line);
  return objections.length;
});
