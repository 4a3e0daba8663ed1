import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exclusively, root } from './exclusive.mjs';

/**
 * Installs what `package-lock.json` says when something else, or nothing, is in `node_modules`. Some milliseconds when
 * all is there. Contents are compared and never times: a clone and a checkout write both in any order.
 * @throws {Error} when package.json and the lock file contradict each other, or npm fails
 */
export async function ensureInstalled() {
  if (!outdated()) return;
  await exclusively('install', () => {
    const reason = outdated();
    if (reason) install(reason);
  });
}

function outdated() {
  const wanted = read('package-lock.json').packages;
  const contradiction = findContradiction(wanted);
  if (contradiction) {
    throw new Error(`${contradiction} and package-lock.json disagree; run "npm install" and keep both changes.`);
  }
  if (!existsSync(join(root, 'node_modules/.package-lock.json'))) return 'node_modules is missing or incomplete';
  // npm writes this file last, so an install that was interrupted has none.
  const present = read('node_modules/.package-lock.json').packages;
  const name = Object.keys(wanted).find((key) => key && !satisfied(wanted[key], present[key]));
  return name && `${name} is not as package-lock.json has it`;
}

/** An optional package may be for another platform and is then rightly absent. */
function satisfied(wanted, present) {
  if (!present) return wanted.optional === true;
  return wanted.version === present.version && wanted.integrity === present.integrity && wanted.link === present.link;
}

function findContradiction(wanted) {
  const folders = Object.keys(wanted).filter((key) => !key.includes('node_modules'));
  const fields = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];
  const differs = (folder, own) => fields.some((field) => !sameEntries(own[field], wanted[folder][field]));
  const differing = folders.find(
    (folder) => existsSync(join(root, folder)) && differs(folder, read(packageFile(folder))),
  );
  return differing === undefined ? undefined : packageFile(differing);
}

function packageFile(folder) {
  return join(folder, 'package.json');
}

function sameEntries(left = {}, right = {}) {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => left[name] === right[name]);
}

function install(reason) {
  console.error(`Installing packages, because ${reason} ...`);
  // The tools are dev dependencies, which NODE_ENV=production would leave out; npm's talk belongs on stderr.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  const { status, signal, error } = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  const how = error?.message ?? (signal ? `it was ended by ${signal}` : `exit code ${status}`);
  throw new Error(`"npm ci" failed (${how}); its own words are above, and without it nothing here can run.`);
}

function read(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}
