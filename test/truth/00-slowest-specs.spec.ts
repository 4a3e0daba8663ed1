import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { slowestSpecs } from '../../scripts/test-count.mjs';

let folder: string;
let report: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fencepost-report-'));
  report = join(folder, 'report.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const spec = (name: string, ms: number) => ({
  name: `/repo/test/${name}.spec.ts`,
  startTime: 1_000,
  endTime: 1_000 + ms,
});
const write = (...testResults: unknown[]) => writeFileSync(report, JSON.stringify({ testResults }));

describe('the report of a test run', () => {
  it('lists the ten slowest specs with their seconds, the slowest first', () => {
    const twelve = Array.from({ length: 12 }, (_, n) => spec(`n${n}`, n * 1_000));
    write(...twelve);
    const lines = slowestSpecs(report, '/repo');
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('   11.0 s  test/n11.spec.ts');
    expect(lines.at(-1)).toBe('    2.0 s  test/n2.spec.ts');
  });

  it('lists nothing when the run wrote no report', () => {
    expect(slowestSpecs(join(folder, 'none.json'), '/repo')).toEqual([]);
  });
});
