/**
 * @typedef {{ node: number, nest: number, modules: 'esm' | 'cjs', runner: 'vitest' | 'jest', bullmq: number, ioredis: number, bundler?: 'esbuild' | 'ncc' }} Cell
 */

/** @type {Cell} what README and template lead to */
const BASE = { node: 22, nest: 12, modules: 'esm', runner: 'vitest', bullmq: 6, ioredis: 6 };

/** @type {Partial<Cell>[]} each axis away from the base, and the corners where most is old */
const CHANGES = [
  { node: 20 },
  {},
  { node: 24 },
  { node: 20, modules: 'cjs' },
  { node: 22, modules: 'cjs', runner: 'jest' },
  { node: 24, modules: 'cjs', runner: 'jest' },
  { node: 24, nest: 11, modules: 'cjs', runner: 'jest' },
  { node: 20, nest: 11, modules: 'cjs', bullmq: 5, ioredis: 5 },
  { bullmq: 5, ioredis: 5 },
  { bullmq: 5 },
  { ioredis: 5 },
  { bundler: 'esbuild' },
  { node: 20, modules: 'cjs', bundler: 'esbuild' },
  { bundler: 'ncc' },
];

/** @type {readonly Cell[]} */
export const CELLS = CHANGES.map((change) => ({ ...BASE, ...change }));

/** @param {Cell} cell @returns {string} such as `node22-nest12-esm-vitest-bullmq6-ioredis6`, and `-esbuild` where it is bundled */
export function nameOf({ node, nest, modules, runner, bullmq, ioredis, bundler }) {
  return `node${node}-nest${nest}-${modules}-${runner}-bullmq${bullmq}-ioredis${ioredis}${bundler ? `-${bundler}` : ''}`;
}

/** What cannot work for a reason that is not ours, and is not tried. @param {Cell} cell @returns {string | null} */
export function reasonAgainst({ node, runner, modules }) {
  if (runner !== 'jest' || modules !== 'cjs' || node >= 24) return null;
  return 'Jest cannot `require` an ES module before Node.js 24.9, neither these packages nor those of NestJS 12';
}
