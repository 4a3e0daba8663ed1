import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkModules } from '../support/link-modules.mjs';

/** The last text of this repository in which definitions were ordered by builds. It writes format 3, and reads this one. */
const COMMIT = '0b19b9871754e3db9ae7bf8dfbca5a48e83a4aef';
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
  renameSync(making, folder);
  linkModules(folder);
  for (const name of ['.bin', '.package-lock.json']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  execFileSync(process.execPath, ['-e', BUILD], { cwd: folder, stdio: ['ignore', 2, 2] });
  return folder;
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
