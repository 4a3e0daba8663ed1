import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../exclusive.mjs';
import { manifests, published } from '../release/manifests.mjs';

/**
 * Packs every public package as npm would publish it.
 * @param {string} into a folder
 * @returns {Map<string, string>} the tarballs, by the names of the packages
 */
export function packInto(into) {
  const folders = published(manifests()).map(([folder]) => `./${folder}`);
  const args = ['pack', ...folders, '--json', '--loglevel=error', '--pack-destination', into];
  const said = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }));
  return new Map(said.map(({ name, filename }) => [name, join(into, filename)]));
}

/**
 * A command line with the tarballs in the place of our names: of each named package, and of those of ours that it needs, which the
 * registry may not have.
 * @param {string} line such as the one that a README shows
 * @param {ReadonlyMap<string, string>} packed
 */
export function withTarballs(line, packed) {
  const words = line
    .split(' ')
    .map((word) => (packed.has(word) ? withNeeds(word).map((name) => packed.get(name)) : [word]));
  return words.flat().join(' ');
}

/** @param {string} name of one of our packages @returns {string[]} it and those of ours that it needs */
function withNeeds(name) {
  const all = new Map(published(manifests()).map(([, manifest]) => [manifest.name, manifest]));
  const needed = (one) => [
    one,
    ...Object.keys(all.get(one)?.dependencies ?? {})
      .filter((other) => all.has(other))
      .flatMap(needed),
  ];
  return [...new Set(needed(name))];
}
