import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryCell } from './cell.mjs';
import { CELLS, nameOf, reasonAgainst } from './cells.mjs';
import { packInto } from './packages.mjs';
import { keepResult, writePage } from './support.mjs';

/**
 * Tries the cells one after the other, also after one that failed, and adds what came out to docs/support.json and docs/support.md.
 * @param {string} only words that the name of a cell contains; all cells if there are none
 * @param {(line: string) => void} print
 */
export async function matrix(only, print) {
  const chosen = CELLS.filter((cell) => only.split(',').some((word) => nameOf(cell).includes(word)));
  if (chosen.length === 0)
    throw new Error(
      `Expected --only to be part of one of ${CELLS.map(nameOf).join(', ')}, got ${JSON.stringify(only)}.`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-packed-'));
  try {
    const packed = packInto(folder);
    const cells = {};
    for (const cell of chosen) {
      const name = nameOf(cell);
      cells[name] = await resultOf(cell, packed);
      keepResult(name, cells[name]);
      const { ok, seconds, reason } = cells[name];
      print(`${ok ? 'works' : 'no   '} ${name} (${seconds} s)${reason ? `: ${reason}` : ''}`);
    }
    writePage();
    const failed = chosen.filter((cell) => !cells[nameOf(cell)].ok && !reasonAgainst(cell)).map(nameOf);
    return { ok: failed.length === 0, cells, failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {Promise<import('./support.mjs').Result>} */
async function resultOf(cell, packed) {
  const reason = reasonAgainst(cell);
  if (reason) return { ok: false, seconds: 0, reason };
  const since = performance.now();
  const secondsSince = () => Math.round((performance.now() - since) / 1_000);
  try {
    const versions = await tryCell(cell, packed);
    return { ok: true, seconds: secondsSince(), versions };
  } catch (error) {
    console.error(error.message);
    return { ok: false, seconds: secondsSince(), reason: error.message.split('\n')[0] };
  }
}
