import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * A plugin of the Nest CLI, see nest-cli.json: "nest build" and "nest start" compile one project and never those that it refers
 * to. In a clone that was never built, this builds them all and repeats the command, whose compiler has looked for them already.
 */
export function before() {
  if (!isBuilt()) {
    runOrEnd([join(root, 'scripts/build.mjs')]);
    runOrEnd(process.argv.slice(1));
    process.exit(0);
  }
  return () => (file) => file;
}

function isBuilt() {
  return readdirSync(join(root, 'libs')).every((lib) => existsSync(join(root, 'libs', lib, 'dist/index.js')));
}

function runOrEnd(args) {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
