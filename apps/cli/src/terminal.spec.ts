import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { run } from './run.js';
import type { World } from './world.js';
import { table, wrap } from './table.js';

async function script(shell: string): Promise<{ code: number; said: string }> {
  let said = '';
  const world = { out: (text: string) => (said += text), err: (text: string) => (said += text), width: 80, env: {} };
  return { code: await run(['completion', shell], world as unknown as World), said };
}

describe('the completion of the command line', () => {
  it.each([
    [['fencepost', 'leas'], ['leases']],
    [['fencepost', 'leases', 'cl'], ['clear']],
    [['fencepost', 'list', '--js'], ['--json']],
    [['fencepost', 'why', 'report', '--red'], ['--redis']],
    [['fencepost', 'why', 'report', '--to'], ['--token']],
    [['fencepost', 'audit', '--ur'], ['']],
  ])('finishes %j in bash', async (words, finished) => {
    const { said } = await script('bash');
    const line = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _fencepost; echo "\${COMPREPLY[@]}"`;
    const reply = execFileSync('bash', ['-c', `${said}\n${line}`], { encoding: 'utf8' });
    expect(reply.trim().split(' ')).toEqual(finished);
  });

  it('knows each command in zsh and in fish, and no other shell', async () => {
    expect((await script('zsh')).said).toMatch(/^autoload -Uz bashcompinit/);
    const fish = (await script('fish')).said;
    expect(fish).toContain("complete -c fencepost -n '__fish_use_subcommand' -f -a why -d ");
    expect(fish).toContain("complete -c fencepost -n '__fish_seen_subcommand_from leases' -f -a clear -d ");
    expect(await script('tcsh')).toMatchObject({ code: 2, said: expect.stringContaining('bash, zsh, fish') });
  });
});

describe('a table', () => {
  it('has its columns below each other', () => {
    expect(
      table(
        [
          ['a', 'bb', 'c'],
          ['aaa', 'b', 'cc'],
        ],
        80,
      ),
    ).toEqual(['a    bb  c', 'aaa  b   cc']);
  });

  it('wraps its last column below itself', () => {
    expect(table([['rule', 'one two three four five six']], 28)).toEqual([
      'rule  one two three four',
      '      five six',
    ]);
  });

  it('keeps the last column readable on a narrow terminal', () => {
    expect(table([['a'.repeat(30), 'one two three four five']], 32)[0]).toMatch(/a {2}one two three four$/);
  });
});

describe('a line that is too long', () => {
  it('is broken between words, and a long word stays whole', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a nightly-report@1763607600000 b', 10)).toEqual(['a', 'nightly-report@1763607600000', 'b']);
  });
});
