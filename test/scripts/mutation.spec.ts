import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { scoreOf, shortSelection, strykerOptions } from '../../scripts/mutation.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCHEMA = `${ROOT}node_modules/@stryker-mutator/core/schema/stryker-schema.json`;

function mutation(...args: string[]): { readonly code: number | null; readonly out: string; readonly err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${ROOT}scripts/mutation.mjs`, ...args], {
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

describe('npm run mutation', () => {
  it('explains itself and names the packages that have unit specs', () => {
    const { code, out } = mutation('--help');
    expect([code, out]).toEqual([0, expect.stringContaining('--packages')]);
    for (const name of ['schedule', 'lease', 'ledger', 'jobs']) expect(out).toContain(name);
  });

  it.each(['--packages=luck', '--seconds=3'])('refuses %s with one sentence', (arg) => {
    const { code, out, err } = mutation(arg);
    expect([code, out, err.trim().split('\n').length]).toEqual([1, '', 1]);
  });

  it('sets only options that Stryker knows, and a vitest config that exists', () => {
    const { properties } = JSON.parse(readFileSync(SCHEMA, 'utf8')) as { properties: Record<string, unknown> };
    const { vitest, ...options } = strykerOptions('schedule', { files: [], force: false });
    expect(Object.keys(options).filter((name) => !(name in properties))).toEqual([]);
    expect(existsSync(ROOT + vitest.configFile)).toBe(true);
  });

  it('mutates the sources of one package, or those that were named, and no spec', () => {
    const mutated = (files: string[]) => strykerOptions('schedule', { files, force: false }).mutate;
    expect(mutated([])).toEqual([
      'libs/schedule/src/**/*.ts',
      '!libs/schedule/src/**/*.spec.ts',
      '!libs/schedule/src/**/*.stage.ts',
    ]);
    expect(mutated(['zone.ts'])[0]).toBe('libs/schedule/src/zone.ts');
  });

  it('takes for the short form sources that have a spec, spread over the package', () => {
    const sources = ['a.ts', ...['b', 'c', 'd', 'e'].flatMap((name) => [`${name}.spec.ts`, `${name}.ts`])];
    expect([shortSelection(sources, 2), shortSelection(sources, 9)]).toEqual([
      ['b.ts', 'd.ts'],
      ['b.ts', 'c.ts', 'd.ts', 'e.ts'],
    ]);
  });

  it('counts a timeout as noticed, and leaves out of the score what was not run', () => {
    const mutants = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored'].map((status) => ({ status }));
    expect(scoreOf(mutants)).toEqual({
      score: 50,
      scoreOfCovered: 66.7,
      mutants: { Killed: 1, Timeout: 1, Survived: 1, NoCoverage: 1, Ignored: 1 },
    });
  });
});
