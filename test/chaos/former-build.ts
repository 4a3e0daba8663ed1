import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkModules } from '../support/link-modules.mjs';

/**
 * The first text of this repository whose records carry a number. It writes format 3, and 2 while a member has that one; none
 * in the history writes 2 of itself.
 */
const COMMIT = '3f765e06861460789c0a7c3d941a387285519d4b';
const FORMAT = {
  file: 'libs/ledger/src/base/format.ts',
  own: 'export const FORMAT = 3;',
  former: 'export const FORMAT = 2;',
};
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAM = 'test/dist/bundle/worker.js';
const BUILD = "import('./scripts/build.mjs').then(({ ensureBuilt }) => ensureBuilt({ pods: true }))";

/**
 * The pods of the format before, built from the history of this repository; kept for the next time.
 * @returns the folder that has them as this one has its own
 * @throws {Error} where the history isn't there, as in a shallow clone
 */
export function openFormerBuild(): string {
  const folder = join(ROOT, '.cache', `former-${COMMIT.slice(0, 8)}`);
  if (existsSync(join(folder, PROGRAM))) return folder;
  // Put in its place when it is whole: what was interrupted is made anew.
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  execFileSync('tar', ['-x', '-C', making], { input: archive() });
  lowerFormat(join(making, FORMAT.file));
  renameSync(making, folder);
  linkModules(folder);
  for (const name of ['.bin', '.package-lock.json']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  execFileSync(process.execPath, ['-e', BUILD], { cwd: folder, stdio: ['ignore', 2, 2] });
  return folder;
}

/** Members of the format before announce it and write nothing else. */
function lowerFormat(file: string): void {
  const text = readFileSync(file, 'utf8');
  if (!text.includes(FORMAT.own))
    throw new Error(`Expected "${FORMAT.own}" in ${FORMAT.file} of ${COMMIT.slice(0, 8)}.`);
  writeFileSync(file, text.replace(FORMAT.own, FORMAT.former));
}

function archive(): Buffer {
  try {
    return execFileSync('git', ['archive', COMMIT], {
      cwd: ROOT,
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw new Error(
      `Expected the commit ${COMMIT.slice(0, 8)} in the history of this clone, for pods of the format before, got ` +
        `${(error as Error).message.split('\n').at(-1)}. Fetch the whole history: git fetch --unshallow.`,
      { cause: error },
    );
  }
}
