/**
 * Programs and files out of Debian's packages, for machines that may lack them and with or without root. Plain Node and
 * nothing of the project, because it has to work before anything is installed.
 */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../.cache', import.meta.url));
const APT = ['-y', '-o', 'Acquire::Retries=2', '-o', 'Acquire::http::Timeout=30', '-o', 'DPkg::Lock::Timeout=60'];
const ALONE = '--no-install-recommends';
/** A user's PATH often lacks these, and what lies there can be run all the same. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];
const LOCK_ATTEMPTS = 60;
const LOCK_PAUSE_MS = 1_000;

/**
 * A program, wherever it comes from: PATH, an installation as root, or a download that is unpacked into .cache.
 * @param {string} name
 * @param {{ package?: string, service?: string, log?: (line: string) => void }} [options] `package` holds it, named like
 *   the program by default; `service` is what systemd would start of it; `log` hears about the steps that take seconds
 * @returns {Promise<{ command: string, env: NodeJS.ProcessEnv, how: string }>} `env` is what the command needs to run
 * @throws {Error} when there is no way to it; its one sentence names all ways and why each failed
 */
export async function ensureProgram(name, options = {}) {
  const folders = ['usr/bin', 'usr/sbin', 'bin', 'sbin'];
  const { path, env, how } = await ensure(name, {
    package: name,
    ...options,
    here: async () => onPath(name, SYSTEM_FOLDERS),
    unpacked: (root) => folders.map((folder) => join(root, folder, name)).find((file) => fs.existsSync(file)),
  });
  return { command: path, env, how };
}

/**
 * A file of a package that is no program, such as a library to preload.
 * @param {string} ending how its path ends, such as `/faketime/libfaketime.so.1`: what comes before differs by processor
 * @param {{ package: string, log?: (line: string) => void }} options
 * @returns {Promise<{ path: string, how: string }>}
 * @throws {Error} as {@link ensureProgram}
 */
export async function ensureFile(ending, options) {
  const { path, how } = await ensure(ending, {
    ...options,
    here: async () => {
      if (!onPath('dpkg')) return undefined;
      const { ok, out } = await run('dpkg', ['-L', options.package]);
      return ok ? out.split('\n').find((file) => file.endsWith(ending) && fs.existsSync(file)) : undefined;
    },
    unpacked: (root) => {
      const files = fs.readdirSync(root, { recursive: true, encoding: 'utf8' });
      return files.map((file) => join(root, file)).find((file) => file.endsWith(ending));
    },
  });
  return { path, how };
}

async function ensure(what, { package: name, service, log = () => {}, here, unpacked }) {
  const place = join(CACHE, name);
  const nowhere = { because: `it is not in the package ${name}` };
  const onThisMachine = async (how) => {
    const path = await here();
    return path ? { path, env: process.env, how } : nowhere;
  };
  const unpackedIn = async (root, how = 'just downloaded with apt-get without root') => {
    const path = fs.existsSync(root) ? unpacked(root) : undefined;
    return path ? { path, env: unpackedEnv(root), how: `${path}, ${how}` } : nowhere;
  };
  const install = async () => {
    const outcome = await aptInstall(name, { service, log });
    return outcome.ok ? onThisMachine('just installed with apt-get') : outcome;
  };
  const found = [await onThisMachine('of this machine'), await unpackedIn(place, 'unpacked earlier')];
  const ready = found.find(({ how }) => how) ?? (await install());
  if (ready.how) return ready;
  const downloaded = await aptDownload([name], { folder: place, log, check: unpackedIn });
  if (downloaded.how) return downloaded;
  throw new Error(
    `There is no ${what} to work with: have it on this machine (it is not there), or run as root where apt-get can ` +
      `install ${name} (${sentence(ready.because)}), or let apt-get download ${name} without root ` +
      `(${sentence(downloaded.because)}).`,
  );
}

/**
 * Installs as root, without starting anything.
 * @param {string} name of the package
 * @param {{ service?: string, log?: (line: string) => void }} [options]
 */
export async function aptInstall(name, { service, log = () => {} } = {}) {
  if (process.getuid?.() !== 0 || !onPath('apt-get')) return { because: 'this is not root, or there is no apt-get' };
  log(`Installing ${name} with apt-get (once; it is not started as a service) ...`);
  // Both init systems are told not to start what is installed: the machine's ports are not ours to take.
  const quiet = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', SYSTEMD_OFFLINE: '1' };
  const install = () => unlocked(['install', ...APT, ALONE, name], { env: { ...process.env, ...quiet } });
  let outcome = await install();
  if (!outcome.ok) {
    // Container images ship without package lists, so the first "Unable to locate package" is no verdict yet.
    await unlocked(['update', ...APT]);
    outcome = await install();
  }
  if (outcome.ok && service && fs.existsSync('/run/systemd/system'))
    await run('systemctl', ['disable', '--now', service]);
  return outcome;
}

/**
 * Downloads without root and unpacks into a folder, which afterwards holds what passed the check, or is as it was.
 * @template {{ how?: string, because?: string }} Found
 * @param {readonly string[]} names of the packages; the first one needs the others
 * @param {{ folder: string, check: (root: string) => Promise<Found>, log?: (line: string) => void }} options
 * @returns {Promise<Found | { how?: undefined, because?: string }>} what the check says of the folder
 */
export async function aptDownload(names, { folder, check, log = () => {} }) {
  if (!onPath('apt-get') || !onPath('dpkg')) return { because: 'there is no apt-get with dpkg' };
  log(`Downloading ${names[0]} with apt-get into ${folder.slice(dirname(CACHE).length + 1)} (once, some seconds) ...`);
  fs.mkdirSync(dirname(folder), { recursive: true });
  const work = fs.mkdtempSync(`${folder}-`);
  try {
    const outcome = await unpack(names, work);
    const fresh = outcome.ok ? await check(join(work, 'root')) : outcome;
    if (!fresh.how) return fresh;
    // Two commands may have downloaded at once: whoever is second uses what is there.
    const first = await check(folder);
    if (!first.how) fs.rmSync(folder, { recursive: true, force: true });
    if (!first.how) fs.renameSync(join(work, 'root'), folder);
    return check(folder);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Fetches the packages and the libraries this machine lacks, never libc and the like, which it has. With package lists of
 * our own: the machine's may be missing or so old that their files are gone, and only root may renew them.
 */
async function unpack(names, work) {
  for (const part of ['lists/partial', 'cache/archives/partial']) fs.mkdirSync(join(work, part), { recursive: true });
  const own = [...APT, '-o', `Dir::State::Lists=${join(work, 'lists')}`, '-o', `Dir::Cache=${join(work, 'cache')}`];
  await run('apt-get', ['update', ...own]);
  const plan = await run('apt-get', ['install', '-s', ...own, ALONE, names[0]]);
  if (!plan.ok) return plan;
  const missing = [...plan.out.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  const fetched = await run('apt-get', ['download', ...own, ...new Set([...missing, ...names])], { cwd: work });
  if (!fetched.ok) return fetched;
  const files = fs.readdirSync(work).filter((name) => name.endsWith('.deb'));
  const outcomes = await Promise.all(files.map((name) => run('dpkg', ['-x', join(work, name), join(work, 'root')])));
  return outcomes.find(({ ok }) => !ok) ?? { ok: true };
}

/** `DPkg::Lock::Timeout` waits for dpkg's lock alone: of two that renew the package lists at once, one fails at once. */
async function unlocked(args, options) {
  for (let attempt = 1; ; attempt++) {
    const outcome = await run('apt-get', args, options);
    if (outcome.ok || attempt === LOCK_ATTEMPTS || !/\block\b/.test(outcome.because)) return outcome;
    await wait(LOCK_PAUSE_MS);
  }
}

/**
 * What a program unpacked into `root` needs to find its libraries.
 * @param {string} root
 * @returns {NodeJS.ProcessEnv}
 */
export function unpackedEnv(root) {
  const roots = ['usr/lib', 'lib'].map((name) => join(root, name)).filter((name) => fs.existsSync(name));
  const libraries = roots.flatMap((folder) => [folder, ...fs.readdirSync(folder).map((name) => join(folder, name))]);
  return { ...process.env, LD_LIBRARY_PATH: libraries.join(delimiter) };
}

/**
 * @param {string} name
 * @param {readonly string[]} [folders] looked into after those of PATH
 * @returns {string | undefined} where it lies
 */
export function onPath(name, folders = []) {
  const all = [...(process.env.PATH ?? '').split(delimiter), ...folders];
  const files = all.map((folder) => join(folder || '.', name));
  return files.find((file) => fs.existsSync(file) && fs.statSync(file).isFile() && fs.statSync(file).mode & 0o111);
}

/**
 * Never rejects: `because` is the last complaint of the command, fit for a sentence.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, timeout?: number }} [options]
 * @returns {Promise<{ ok: boolean, out: string, because?: string, how?: undefined }>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { timeout: 300_000, maxBuffer: 1 << 26, ...options, encoding: 'utf8' },
      (error, out, err) => {
        const said = err.split('\n').filter((line) => line.trim() && !/^([WN]: |Run '|See ')/.test(line));
        resolve({
          ok: !error,
          out,
          because: error ? (said.at(-1) ?? error.message.split('\n')[0]) : undefined,
        });
      },
    );
  });
}

/** A reason, fit for brackets. */
export function sentence(because = '') {
  return because.trim().replace(/[.:]+$/, '');
}
