import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { Tally } from '../../bench/run/tally.mjs';
import { ensureBuilt } from '../../scripts/build.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Case {
  readonly name: string;
  readonly who: Readonly<Record<string, unknown>>;
  readonly claims: readonly object[];
}

async function bench(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['bench/run.mjs', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
}

beforeAll(() => ensureBuilt(), 600_000);

// What it measures is not looked at: how fast something was in a test says nothing.
describe('npm run bench:run', { timeout: 180_000 }, () => {
  it('closes with one line that has every case, and judges nothing when it was too quick for it', async () => {
    const { code, out, err } = await bench('--json', '--quick', '--cases', 'redis,effect,heartbeats');
    expect({ code, lines: out.trim().split('\n').length }, err).toEqual({ code: 0, lines: 1 });
    const result = JSON.parse(out) as { ok: boolean; cases: readonly Case[] };
    expect(result).toMatchObject({ ok: true, quick: true });
    expect(result.cases.map(({ name }) => name)).toEqual(['redis', 'effect', 'heartbeats']);
    const window = { windows: 1, perSecond: expect.any(Number), nodeUs: expect.any(Number) };
    expect(result.cases[0]?.who).toMatchObject({ bare: window, redis: window });
    for (const { claims } of result.cases) {
      for (const claim of claims) expect(claim).toMatchObject({ measured: expect.any(Number), holds: null });
    }
  });

  it('says what a case can be when it gets another, and starts nothing', async () => {
    const { code, out, err } = await bench('--cases', 'sideways');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^Expected a case out of redis, .*, got "sideways"\.\n$/);
  });

  it('ends a window with the first handler that throws', async () => {
    const tally = new Tally();
    const window = tally.window(2, async () => {
      tally.count();
      tally.fail(new Error('the handler broke'));
    });
    await expect(window).rejects.toThrow('the handler broke');
  });
});
