import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function conformance(...args: string[]): { readonly code: number | null; readonly out: string; readonly err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${ROOT}scripts/conformance.mjs`, ...args], {
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

describe('npm run conformance', () => {
  it('explains itself', () => {
    const { code, out } = conformance('--help');
    expect([code, out]).toEqual([0, expect.stringContaining('--bullmq')]);
  });

  it('refuses what is no version before it fetches anything', () => {
    const { code, out, err } = conformance('--bullmq', 'latest');
    expect([code, out]).toEqual([1, '']);
    expect(err.trim()).toBe('Expected --bullmq as a version such as 6.8.0, got "latest".');
  });
});
