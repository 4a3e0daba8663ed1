import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../exclusive.mjs';

const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];
const NEEDED = ['description', 'license', 'repository', 'homepage', 'bugs', 'keywords', 'engines', 'files'];

/** @typedef {Record<string, any> & { name: string, version: string }} Manifest */

/**
 * The manifests of root and workspaces, by their file.
 * @returns {Record<string, Manifest>}
 */
export function manifests() {
  const groups = ['libs', 'apps'].flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`));
  const files = ['package.json', ...groups.map((folder) => `${folder}/package.json`)];
  const present = files.filter((file) => existsSync(join(root, file)));
  return Object.fromEntries(present.map((file) => [file, JSON.parse(readFileSync(join(root, file), 'utf8'))]));
}

/**
 * What is published, each after what it depends on.
 * @param {Record<string, Manifest>} all
 * @returns {[folder: string, manifest: Manifest][]}
 */
export function published(all) {
  const open = Object.entries(all).filter(([, manifest]) => !manifest.private);
  const names = new Set(open.map(([, { name }]) => name));
  const needs = ({ dependencies = {} }) => Object.keys(dependencies).filter((name) => names.has(name));
  const depth = (manifest) =>
    1 + Math.max(-1, ...needs(manifest).map((name) => depth(open.find(([, one]) => one.name === name)?.[1] ?? {})));
  const sorted = open.toSorted(([, a], [, b]) => depth(a) - depth(b) || a.name.localeCompare(b.name));
  return sorted.map(([file, manifest]) => [file.replace('/package.json', ''), manifest]);
}

/** Shared between our own packages, and no promise to users. */
const INTERNAL = /\/internal\b/;

/**
 * What users may import.
 * @returns {{ folder: string, name: string, path: string, types: string }[]} `types` from the root of the repository
 */
export function publicEntries() {
  return published(manifests()).flatMap(([folder, { name, exports = {} }]) =>
    Object.entries(exports)
      .filter(([path, { types }]) => types && !INTERNAL.test(path))
      .map(([path, { types }]) => ({ folder, name, path, types: join(folder, types) })),
  );
}

/**
 * A manifest in another version, with our own packages in the same.
 * @param {Manifest} manifest
 * @param {{ version: string, names: ReadonlySet<string> }} to
 * @returns {Manifest}
 */
export function inVersion(manifest, { version, names }) {
  const moved = DEPENDENCIES.filter((kind) => manifest[kind]).map((kind) => [
    kind,
    Object.fromEntries(
      Object.entries(manifest[kind]).map(([name, range]) => [name, names.has(name) ? version : range]),
    ),
  ]);
  return { ...manifest, version, ...Object.fromEntries(moved) };
}

/**
 * Why these could not be published together.
 * @param {Record<string, Manifest>} all
 * @returns {string[]} a sentence for each reason
 */
export function contradictions(all) {
  const { version } = all['package.json'] ?? { version: '' };
  const names = new Set(Object.values(all).map(({ name }) => name));
  const open = new Set(published(all).map(([, { name }]) => name));
  return Object.entries(all).flatMap(([file, manifest]) => {
    const expected = JSON.stringify(inVersion(manifest, { version, names }));
    const uneven = JSON.stringify(manifest) === expected ? [] : [`${file} has not the version ${version} throughout.`];
    if (manifest.private) return uneven;
    const hidden = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter(
      (name) => names.has(name) && !open.has(name),
    );
    const missing = NEEDED.filter((field) => manifest[field] === undefined);
    return [
      ...uneven,
      ...hidden.map((name) => `${file} depends on ${name}, which is private.`),
      ...missing.map((field) => `${file} has no "${field}".`),
    ];
  });
}
