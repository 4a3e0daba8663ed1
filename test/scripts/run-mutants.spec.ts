import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../mutants/run-mutants.mjs');

function mutants(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
}

describe('npm run mutants', () => {
  it('explains itself, and starts nothing for it', async () => {
    const { code, out, err } = await mutants('--help');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^npm run mutants -- \[options\]\n[^]*--only <word>[^]*--table/);
  });

  it.each([
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['--only', 'nothing-like-it'], 'Expected --only to be part of'],
  ])('refuses %j in a sentence', async (args, sentence) => {
    const { code, out, err } = await mutants(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(sentence);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});
