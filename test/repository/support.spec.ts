import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CELLS, nameOf, reasonAgainst } from '../../scripts/stranger/cells.mjs';
import { objectionToPage, readResults } from '../../scripts/stranger/support.mjs';

const PACKAGES = ['lease', 'ledger', 'jobs', 'operations', 'testing'];
/** Our axis, and the packages whose ranges have to agree with it. */
const PEERS = { nest: ['@nestjs/common', '@nestjs/core'], bullmq: ['bullmq'], ioredis: ['ioredis'] };

function peersOf(lib: string): Record<string, string> {
  const manifest = readFileSync(new URL(`../../libs/${lib}/package.json`, import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { peerDependencies?: Record<string, string> }).peerDependencies ?? {};
}

const ascending = (a: number, b: number) => a - b;

const majorsOf = (range: string) =>
  [...range.matchAll(/\^(\d+)\./g)].map(([, major]) => Number(major)).toSorted(ascending);

describe('the table of docs/support.md', () => {
  it('is what docs/support.json says', () => {
    expect(objectionToPage()).toBeNull();
  });

  it('has every combination tried, and each works or has a reason that is not ours', () => {
    const results = readResults();
    const wrong = CELLS.filter((cell) => !results[nameOf(cell)]?.ok && reasonAgainst(cell) === null);
    expect(wrong.map(nameOf)).toEqual([]);
  });

  it.each(Object.entries(PEERS))('has the majors of %s that the packages allow, and no others', (axis, names) => {
    const results = readResults();
    const working = CELLS.filter((cell) => results[nameOf(cell)]?.ok);
    const passed = [...new Set(working.map((cell) => cell[axis as keyof typeof PEERS]))].toSorted(ascending);
    const ranges = PACKAGES.map(peersOf).flatMap((peers) => names.map((name) => peers[name] ?? []).flat());
    expect(ranges.length).toBeGreaterThan(2);
    for (const range of ranges) expect(majorsOf(range), range).toEqual(passed);
  });
});
