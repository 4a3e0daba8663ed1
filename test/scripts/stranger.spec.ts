import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { objectionsTo } from '../../scripts/stranger/mails.mjs';
import { edited } from '../../scripts/stranger/pages.mjs';

const mail = (second: number, fence: number) => ({
  text: `Report of 2026-11-23T05:00:${second}.000Z`,
  idempotencyKey: `try-it@${second}/send`,
  fence,
});

describe('the mails of all replicas', () => {
  it('are in order when each instant sent one, under a larger fence than the one before', () => {
    expect(objectionsTo([mail(20, 7), mail(10, 5), mail(30, 8)], 10_000)).toEqual([]);
  });

  it.each([
    ['an instant that sent two', [mail(10, 5), mail(20, 6), mail(20, 7)], /05:00:20\.000Z was sent twice/],
    ['an instant that sent none', [mail(10, 5), mail(30, 6)], /Nothing was sent between/],
    ['a fence that went back', [mail(10, 5), mail(20, 4)], /has the fence 4, after 5/],
  ])('show %s', (_what, mails, sentence) => {
    expect(objectionsTo(mails, 10_000).join('\n')).toMatch(sentence);
  });
});

describe('a diff of the documentation', () => {
  const DIFF = "+import b from 'b';\n-  imports: [a],\n+  imports: [a, b],\n";

  it('is made, with what precedes the removed line at the top of the file', () => {
    expect(edited("import a from 'a';\n  imports: [a],\n", DIFF)).toBe(
      "import b from 'b';\nimport a from 'a';\n  imports: [a, b],\n",
    );
  });

  it('is refused where its line is not', () => {
    expect(() => edited('imports: []', DIFF)).toThrow('Expected exactly once');
  });
});

describe('npm run stranger', () => {
  const program = fileURLToPath(new URL('../../scripts/stranger.mjs', import.meta.url));

  it.each([
    [['--fast'], '--fast'],
    [['--check'], 'Expected --matrix beside --check'],
  ])('says in one sentence what is wrong with %o', (args, sentence) => {
    const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
    expect({ status, lines: stderr.trim().split('\n').length }).toEqual({ status: 1, lines: 1 });
    expect(stderr).toContain(sentence);
  });
});
