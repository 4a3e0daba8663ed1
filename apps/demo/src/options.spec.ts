import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseOptions, type DemoOptions } from './options.js';

interface Refused {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

function parse(...args: string[]): DemoOptions | Refused {
  let [out, err] = ['', ''];
  try {
    return parseOptions(args, { out: (text) => (out += text), err: (text) => (err += text) });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { exitCode: error.exitCode, out, err };
  }
}

describe('the command line of the demo', () => {
  it('asks for nothing special when it is empty', () => {
    expect(parse()).toEqual({ seconds: null, chaos: false, seed: null, ledger: 'redis', json: false });
  });

  it('takes all options', () => {
    expect(parse('--seconds', '30', '--chaos', '--seed=7', '--ledger', 'postgres', '--json')).toEqual({
      seconds: 30,
      chaos: true,
      seed: 7,
      ledger: 'postgres',
      json: true,
    });
  });

  it.each(['abc', '0', '-3', '1.5', '1e3', '', '86401'])('refuses --seconds %j with one sentence', (value) => {
    const refused = parse(`--seconds=${value}`) as Refused;
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.err.trim().split('\n')).toHaveLength(1);
    expect(refused.err).toContain('Give a whole number from 1 to 86400.');
    expect(refused.err).toContain('--seconds');
  });

  it.each([['--seed', 'x'], ['--ledger', 'etcd'], ['--seconds'], ['--what'], ['extra']])('refuses %j', (...args) => {
    const refused = parse(...args) as Refused;
    expect(refused.exitCode).toBe(1);
    expect(refused.err).toMatch(/^error: /);
  });

  it('explains itself on stdout and counts that as well done', () => {
    const help = parse('--help') as Refused;
    expect(help).toMatchObject({ exitCode: 0, err: '' });
    for (const option of ['--seconds', '--chaos', '--seed', '--ledger', '--json']) expect(help.out).toContain(option);
  });
});
