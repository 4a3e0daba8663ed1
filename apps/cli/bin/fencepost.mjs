#!/usr/bin/env node
import { existsSync } from 'node:fs';

/** Not a code of any command: who reads "1" as "the audit found something" must not get it from a broken build. */
const BROKEN = 70;

try {
  // In a clone the sources may be newer than what was built from them. What the build has to say goes to stderr. In a package
  // there are no sources, and a script at that place would be the user's own.
  const build = new URL('../../../scripts/build.mjs', import.meta.url);
  const isClone = existsSync(new URL('../src', import.meta.url)) && existsSync(build);
  if (isClone) await import(build.href).then(({ ensureBuilt }) => ensureBuilt());
  await import('../dist/main.js');
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = BROKEN;
}
