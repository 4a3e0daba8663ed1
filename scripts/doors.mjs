import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { root } from './exclusive.mjs';
import { program } from './program.mjs';

const ROOMS = ['libs', 'apps', 'test', 'bench', 'examples'];

/**
 * Which imports go where no door is. Uses dependency-cruiser's API, since its command refuses Node 20.
 * @param {string} house the folder with the rooms in it
 * @returns {Promise<{ seen: number, unseen: string[], violations: { rule: string, from: string, to: string }[] }>}
 *   `unseen` are TypeScript files the cruiser passed over: what it does not see it calls clean
 */
export async function inspectDoors(house) {
  const { cruise } = await import('dependency-cruiser');
  const { forbidden, options } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'));
  const rooms = ROOMS.filter((room) => existsSync(join(house, room)));
  if (rooms.length === 0) return { seen: 0, unseen: [], violations: [] };
  const rules = { ...options, baseDir: house, ruleSet: { forbidden }, validate: true };
  const { modules, summary } = (await cruise(rooms, rules)).output;
  const files = new Set(modules.map(({ source }) => source).filter((source) => /\.[cm]?[jt]sx?$/.test(source)));
  const unseen = rooms.flatMap((room) => sourcesIn(house, room)).filter((file) => !files.has(file));
  const violations = summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
  return { seen: files.size, unseen, violations };
}

function sourcesIn(house, room) {
  const entries = readdirSync(join(house, room), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const names = paths.map((path) => relative(house, path));
  return names.filter((name) => /\.tsx?$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name));
}

/**
 * What speaks against the house, a line each; nothing when every import went through a door.
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

await program(import.meta.url, async ([house = root]) => {
  const found = await inspectDoors(house);
  const lines = complaints(found);
  console.error([...lines, `${found.seen} modules, ${lines.length} complaints`].join('\n'));
  return lines.length === 0 ? 0 : 1;
});
