import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from '../exclusive.mjs';
import { program } from '../program.mjs';
import { inVersion, manifests } from './manifests.mjs';

const SEMVER = /^\d+\.\d+\.\d+(-[\w.]+)?$/;
const HELP = `npm run release:version -- <version>

Gives every package this version and each other in it, updates package-lock.json, and dates the changes in CHANGELOG.md.`;

await program(import.meta.url, async ([version = '']) => {
  if (!SEMVER.test(version))
    throw new Error(version === '' ? HELP : `"${version}" is not a version such as 1.2.0.\n\n${HELP}`);
  const all = manifests();
  const names = new Set(Object.values(all).map(({ name }) => name));
  for (const [file, manifest] of Object.entries(all)) {
    await write(file, JSON.stringify(inVersion(manifest, { version, names }), null, 2));
  }
  await write('CHANGELOG.md', dated(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), { version, day: today() }));
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(
    `Everything is ${version}. Commit it, and push the tag v${version}: the workflow "release" publishes it.`,
  );
});

function today() {
  return new Date().toISOString().slice(0, 10);
}

/** @param {{ version: string, day: string }} release */
function dated(changelog, { version, day }) {
  const heading = '## [Unreleased]';
  if (!changelog.includes(heading)) throw new Error(`CHANGELOG.md has no ${heading}.`);
  return changelog.replace(heading, `${heading}\n\n## [${version}] - ${day}`);
}

async function write(file, text) {
  const filepath = join(root, file);
  writeFileSync(filepath, await format(text, { ...(await resolveConfig(filepath)), filepath }));
}
