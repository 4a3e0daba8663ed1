import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clone } from './clone.js';

/** Says a line, waits until the other one has said its own, and says another one. */
const BESIDE = (own: string, other: string) => `
  import { existsSync, watch, writeFileSync } from 'node:fs';
  console.error('${own} begins');
  const seen = new Promise((resolve) => {
    const look = () => existsSync('${other}.begun') && resolve(watcher.close());
    const watcher = watch('.', look);
    look();
  });
  writeFileSync('${own}.begun', '');
  await seen;
  console.error('${own} ends');`;

const REPORT = JSON.stringify({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
});
const VITEST = `${BESIDE('tests', 'lint')}
  const file = process.argv.find((arg) => arg.startsWith('--outputFile.json=')).slice('--outputFile.json='.length);
  writeFileSync(file, ${JSON.stringify(REPORT)});`;

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
  clone.compiler('tsc', 'mkdir -p apps/demo/dist && cp apps/demo/src/main.ts apps/demo/dist/main.js');
  clone.write('node_modules/vitest/vitest.mjs', VITEST);
  clone.write('scripts/lint.mjs', BESIDE('lint', 'tests'));
});
afterEach(() => clone.discard());

const check = () => clone.start(['scripts/check.mjs'], { REDIS_URL: 'redis://127.0.0.1:4711' }).ended;

// Lint yields to everything else that runs on the machine, here too.
describe('npm run check', { timeout: 120_000 }, () => {
  it('lints beside the tests, prints that after them, and the count last', async () => {
    const { code, out, err } = await check();
    expect(code, err).toBe(0);
    expect(out.trim().split('\n').at(-1)).toBe('3 passed, 0 failed');
    const said = err.split('\n').filter((line) => /begins|ends/.test(line));
    expect(said).toEqual(['tests begins', 'tests ends', 'lint begins', 'lint ends']);
    expect(clone.calls('tsc')).toBe(1);
  });

  it('repeats before the count what lint objects to, and fails', async () => {
    clone.write(
      'scripts/lint.mjs',
      `${BESIDE('lint', 'tests')} console.error('Not in order: format'); process.exit(1);`,
    );
    const { code, out, err } = await check();
    expect([code, out.trim()]).toEqual([1, '3 passed, 0 failed']);
    expect(err.trim().split('\n').slice(-2)).toEqual(['Not in order: format', 'Not in order: format']);
  });

  it('lints without a build too, and tests nothing then', async () => {
    clone.compiler('tsc', 'echo "error TS2322" >&2; exit 1');
    clone.write('scripts/lint.mjs', 'console.error("linted");');
    const { code, out, err } = await check();
    expect([code, out.trim()]).toEqual([1, '0 passed, 0 failed']);
    expect(err).toContain('linted\nThe build failed');
    expect(existsSync(join(clone.folder, 'tests.begun'))).toBe(false);
    expect(clone.calls('tsc')).toBe(1);
  });
});
