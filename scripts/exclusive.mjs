import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const LOOK_AGAIN_MS = 200;
const GIVE_UP_MS = 15 * 60_000;
/** Between `mkdir` and the pid inside it there is a moment in which nobody's name is on the folder. */
const NAMELESS_MS = 5_000;

/**
 * Runs `task` in one process of this clone at a time: two commands typed at once must not install or build into each
 * other. A folder is the token, because making one either succeeds or fails.
 */
export async function exclusively(name, task) {
  const token = join(root, '.cache', `${name}.busy`);
  mkdirSync(dirname(token), { recursive: true });
  await take(token);
  try {
    return await task();
  } finally {
    rmSync(token, { recursive: true, force: true });
  }
}

async function take(token) {
  let told = false;
  for (const since = Date.now(); Date.now() - since < GIVE_UP_MS; await wait(LOOK_AGAIN_MS)) {
    if (make(token)) return;
    const owner = ownerOf(token);
    if (owner.gone) discard(token);
    else if (owner.pid && !told)
      console.error(`Waiting for process ${owner.pid}, which does the same in this folder ...`);
    told ||= Boolean(owner.pid);
  }
  throw new Error(`Another process has been busy for ${GIVE_UP_MS / 60_000} minutes; if it is not, remove ${token}.`);
}

function make(token) {
  try {
    mkdirSync(token);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(token, 'pid'), `${process.pid}`);
  return true;
}

function ownerOf(token) {
  try {
    const pid = Number(readFileSync(join(token, 'pid'), 'utf8'));
    return { pid, gone: pid > 0 && !alive(pid) };
  } catch {
    const made = statSync(token, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    return { gone: Date.now() - made > NAMELESS_MS };
  }
}

function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Renamed first: of two that found the owner dead only one may remove, or it would remove the other's fresh token. */
function discard(token) {
  const aside = `${token}.${process.pid}`;
  try {
    renameSync(token, aside);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}
