import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Case {
  readonly name: string;
  readonly ours: number;
  readonly peers: Readonly<Record<string, number | string>>;
  readonly claims: readonly object[];
}

async function bench(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['bench/lease.mjs', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
}

// What it measures is not looked at: how fast something was in a test says nothing.
describe('npm run bench:lease', () => {
  it('closes with one line that has every contender of every case, and judges nothing when it was too quick for it', async () => {
    const { code, out, err } = await bench('--json', '--quick', '--cases', 'alone,together,renewals');
    expect({ code, lines: out.trim().split('\n').length }, err).toEqual({ code: 0, lines: 1 });
    const result = JSON.parse(out) as { ok: boolean; cases: readonly Case[] };
    expect(result).toMatchObject({ ok: true, quick: true, rounds: 1, seed: 1 });
    expect(result.cases.map(({ name }) => name)).toEqual(['alone', 'together', 'renewals']);
    for (const { ours, peers, claims } of result.cases) {
      expect(ours).toBeGreaterThan(0);
      expect(peers).toMatchObject({ bare: expect.any(Number) });
      expect(claims).toContainEqual(expect.objectContaining({ measured: expect.any(Number), holds: null }));
    }
    expect(result.cases[0]!.peers).toMatchObject({
      'redlock 4.2': expect.any(Number),
      'raw socket': expect.any(Number),
    });
  });

  it('says what a case can be when it gets another, and starts nothing', async () => {
    const { code, out, err } = await bench('--cases', 'sideways');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^Expected a case out of alone, .*, got "sideways"\.\n$/);
  });
});
