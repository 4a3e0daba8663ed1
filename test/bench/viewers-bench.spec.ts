import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

async function bench(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['bench/viewers.mjs', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
}

beforeAll(() => ensureBuilt(), 600_000);

// What it measures is not looked at: how fast something was in a test says nothing.
describe('npm run bench:viewers', { timeout: 180_000 }, () => {
  it('closes with one line about a calm window and one with viewers, and judges nothing when it was too quick for it', async () => {
    const { code, out, err } = await bench('--json', '--quick', '--seconds', '3');
    expect({ code, lines: out.trim().split('\n').length }, err).toEqual({ code: 0, lines: 1 });
    const result = JSON.parse(out) as { calm: { ticks: number }; seen: { answered: number }; claims: object[] };
    expect(result).toMatchObject({ ok: true, quick: true, seconds: 3, viewers: 10 });
    expect(result.calm.ticks).toBeGreaterThan(0);
    expect(result.seen.answered).toBeGreaterThan(0);
    expect(result.claims).toHaveLength(3);
    for (const claim of result.claims) expect(claim).toMatchObject({ measured: expect.any(Number), holds: null });
  });

  it('says what an option can be when it gets another, and starts nothing', async () => {
    const { code, out, err } = await bench('--viewers', 'many');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe('Expected --viewers as a whole number from 1, got "many".\n');
  });
});
