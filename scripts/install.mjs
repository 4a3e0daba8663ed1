import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  await exclusively('install', async () => {
    const reason = outdated();
    if (reason) await install(reason);
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

/** npm's warnings are left out: that some tools would like a newer Node is nothing a newcomer can act on. */
async function install(reason) {
  console.error(`Installing packages with "npm ci", because ${reason}; this can take some minutes ...`);
  const since = performance.now();
  const seconds = () => Math.round((performance.now() - since) / 1_000);
  const onTerminal = process.stderr.isTTY;
  const progress = setInterval(() => onTerminal && process.stderr.write(`\r${seconds()} s `), 1_000);
  const { how, said } = await runNpm();
  clearInterval(progress);
  if (how === null) return console.error(`${onTerminal ? '\r' : ''}Installed in ${seconds()} s.`);
  console.error(said.trim());
  throw new Error(`"npm ci" failed (${how}); its own words are above, and without it nothing here can run.`);
}

/** `how` it failed, or `null`. */
async function runNpm() {
  // The tools are dev dependencies, which NODE_ENV=production would leave out.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  const npm = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  try {
    const [code, signal] = await once(npm, 'close');
    return { how: code === 0 ? null : signal ? `it was ended by ${signal}` : `exit code ${code}`, said };
  } catch (error) {
    return { how: error.message, said };
  }
}

function read(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}
