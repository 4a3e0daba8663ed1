import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated } from './build.mjs';
import { complaints, inspectBoundaries } from './boundaries.mjs';
import { root } from './exclusive.mjs';
import { apiReports } from './api-reports.mjs';
import { exportedNames, overBudget } from './exports.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { manifests, published } from './release/manifests.mjs';
import { packInto } from './stranger/packages.mjs';
import { listen } from './tool.mjs';

/** What did not change since it was checked last is not read again. */
const PRETTIER_CACHE = [
  ...['--cache', '--cache-strategy', 'content'],
  ...['--cache-location', join(root, '.cache/prettier.json')],
];
/** Ways to resolve a package that are older than its `exports`. */
const NOT_PROMISED = new Set(['node10', 'node16-cjs']);

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

/** @type {Step[]} */
const AFTER_BUILD = [
  { name: 'packages', step: checkPackages },
  { name: 'API reports', step: compareReports },
];

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

/** As they would be published, packed outside of the sources, because tests may be reading those. */
async function checkPackages() {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-packed-'));
  try {
    const packed = packInto(folder);
    const objections = [];
    for (const [, { name, exports }] of published(manifests())) {
      const { well, said } = listen('publint', [packed.get(name) ?? '', '--strict']);
      if (!well) objections.push(said);
      // What nothing imports has no types: the command line.
      if (exports) objections.push(...(await wrongTypes(name, packed.get(name) ?? '')));
    }
    for (const objection of objections) console.error(objection);
    return objections.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a program of ES modules or a bundler would not find; what CommonJS reads it gets from Node's `require` of modules. */
async function wrongTypes(name, tarball) {
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (!types) return [`${name}: no types`];
  const counted = problems.filter(({ resolutionKind = 'any' }) => !NOT_PROMISED.has(resolutionKind));
  return counted.map((problem) => `${name}: ${JSON.stringify(problem)}`);
}

// What needs no build first: beside the tests, another process builds meanwhile.
await program(import.meta.url, async () => {
  const objections = await lint([...STEPS, { name: 'build', step: build }, ...AFTER_BUILD]);
  for (const line of objections) console.error(line);
  return objections.length;
});
