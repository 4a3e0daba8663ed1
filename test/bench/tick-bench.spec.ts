import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Case {
  readonly name: string;
  readonly ours: Readonly<Record<string, unknown>>;
  readonly claims: readonly object[];
}

async function bench(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['bench/tick.mjs', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
}

beforeAll(() => ensureBuilt(), 600_000);

// What it measures is not looked at: how fast something was in a test says nothing.
describe('npm run bench:tick', { timeout: 180_000 }, () => {
  it('closes with one line that has every case, and judges nothing when it was too quick for it', async () => {
    const { code, out, err } = await bench('--json', '--quick', '--cases', 'idle,timers');
    expect({ code, lines: out.trim().split('\n').length }, err).toEqual({ code: 0, lines: 1 });
    const result = JSON.parse(out) as { ok: boolean; cases: readonly Case[] };
    expect(result).toMatchObject({ ok: true, quick: true });
    expect(result.cases.map(({ name }) => name)).toEqual(['idle', 'timers']);
    expect(result.cases[0]?.ours).toEqual({ commandsPerSecond: expect.any(Number) });
    expect(result.cases[1]?.ours).toMatchObject({ crons: 1_000, heapMB: expect.any(Number) });
    for (const { claims } of result.cases) {
      for (const claim of claims) expect(claim).toMatchObject({ measured: expect.any(Number), holds: null });
    }
  });

  it('says what a case can be when it gets another, and starts nothing', async () => {
    const { code, out, err } = await bench('--cases', 'sideways');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^Expected a case out of one, .*, got "sideways"\.\n$/);
  });
});
