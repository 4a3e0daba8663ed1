import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';

const AREAS = ['libs', 'apps', 'test', 'bench', 'examples'];

/**
 * Which imports cross a boundary. Uses dependency-cruiser's API, since its command refuses Node 20.
 * @param {string} repository the folder with the packages
 * @returns {Promise<{ seen: number, unseen: string[], violations: { rule: string, from: string, to: string }[] }>}
 *   `unseen` are TypeScript files the cruiser passed over: what it does not see it calls clean
 */
export async function inspectBoundaries(repository) {
  const { cruise } = await import('dependency-cruiser');
  const { forbidden, options } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'));
  const areas = AREAS.filter((area) => existsSync(join(repository, area)));
  if (areas.length === 0) return { seen: 0, unseen: [], violations: [] };
  const rules = { ...options, baseDir: repository, ruleSet: { forbidden }, validate: true };
  const { modules, summary } = (await cruise(areas, rules)).output;
  const files = new Set(modules.map(({ source }) => source).filter((source) => /\.[cm]?[jt]sx?$/.test(source)));
  const unseen = areas.flatMap((area) => sourcesIn(repository, area)).filter((file) => !files.has(file));
  const violations = summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
  return { seen: files.size, unseen, violations };
}

function sourcesIn(repository, area) {
  const entries = readdirSync(join(repository, area), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const names = paths.map((path) => relative(repository, path));
  return names.filter((name) => /\.tsx?$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name));
}

/**
 * The complaints, a line each; none when every import respects the boundaries.
 * @param {{ seen: number, unseen: string[], violations: { rule: string, from: string, to: string }[] }} found
 * @returns {string[]}
 */
export function complaints({ seen, unseen, violations }) {
  if (seen === 0) return ['The cruiser saw no module at all, which is no proof of anything: is TypeScript 6 there?'];
  return [
    ...violations.map(({ rule, from, to }) => `${rule}: ${from} imports ${to}`),
    ...unseen.map((file) => `not looked at: ${file}`),
  ];
}

await program(import.meta.url, async ([repository = root]) => {
  const found = await inspectBoundaries(repository);
  const lines = complaints(found);
  console.error([...lines, `${found.seen} modules, ${lines.length} complaints`].join('\n'));
  return lines.length === 0 ? 0 : 1;
});
