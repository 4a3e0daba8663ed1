import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../exclusive.mjs';
import { CELLS, nameOf, reasonAgainst } from './cells.mjs';

const RESULTS = join(root, 'docs/support.json');
const PAGE = join(root, 'docs/support.md');
const BEGIN = '<!-- Written by `npm run stranger -- --matrix`. -->';
const END = '<!-- End of what it wrote. -->';

/** @typedef {{ ok: boolean, seconds: number, versions?: Record<string, string>, reason?: string }} Result */

/** @returns {Record<string, Result>} by the names of the cells, as they were tried last */
export function readResults() {
  return existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {};
}

/** Adds to the file, in the order of the cells: what was not tried now stays as it was. */
export function keepResult(name, result) {
  const all = { ...readResults(), [name]: result };
  const known = CELLS.map(nameOf).filter((one) => all[one] !== undefined);
  writeFileSync(RESULTS, `${JSON.stringify(Object.fromEntries(known.map((one) => [one, all[one]])), null, 2)}\n`);
}

/** @returns {string | null} what is wrong with the page, in a sentence */
export function objectionToPage() {
  const page = readFileSync(PAGE, 'utf8');
  return withTables(page, readResults()) === page
    ? null
    : 'docs/support.md is not what docs/support.json says: "npm run stranger -- --matrix" writes it.';
}

export function writePage() {
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), readResults()));
}

function withTables(page, results) {
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`Expected "${BEGIN}" and "${END}" in docs/support.md.`);
  return `${page.slice(0, before)}${BEGIN}\n\n${tableOf(results)}\n${page.slice(after)}`;
}

const HEAD = ['Node.js', 'NestJS', 'modules', 'tests', 'BullMQ', 'ioredis', 'bundle', 'result'];
const MODULES = { esm: 'ESM', cjs: 'CommonJS' };
const RUNNERS = { vitest: 'Vitest', jest: 'Jest' };

/** @param {Record<string, Result>} results */
function tableOf(results) {
  const rows = CELLS.map((cell) => {
    const { ok, versions, reason } = results[nameOf(cell)] ?? { ok: false, reason: 'not tried yet' };
    const { node, nest, bullmq, ioredis } = versions ?? cell;
    const said = ok ? 'works' : `no: ${reasonAgainst(cell) ?? reason}`;
    const columns = [node, nest, MODULES[cell.modules], RUNNERS[cell.runner], bullmq, ioredis, cell.bundler ?? ''];
    return [...columns, said].map(String);
  });
  const widths = HEAD.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at].length)));
  const line = (cells) => `| ${cells.map((text, at) => text.padEnd(widths[at])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${[line(HEAD), rule, ...rows.map(line)].join('\n')}\n`;
}
