import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { run } from './run.js';
import type { World } from './world.js';

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
