import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contradictions, inVersion, manifests, published } from '../../scripts/release/manifests.mjs';

const budgets = JSON.parse(
  readFileSync(new URL('../../scripts/release/budgets.json', import.meta.url), 'utf8'),
) as Record<string, number>;

const library = {
  ...{ name: '@f/a', version: '1.0.0', description: 'a', license: 'MIT', repository: 'r', homepage: 'h', bugs: 'b' },
  ...{ keywords: ['k'], engines: { node: '20' }, files: ['dist'] },
};
const root = { name: 'root', version: '1.0.0', private: true };

describe('the packages of a release', () => {
  it('have one version, name each other in it, and say where they come from', () => {
    expect(contradictions(manifests())).toEqual([]);
  });

  it('are published after what they depend on, each with a budget for its size', () => {
    const names = published(manifests()).map(([, { name }]) => name);
    expect(names.indexOf('@fencepost/lease')).toBeLessThan(names.indexOf('@fencepost/ledger'));
    expect(names.indexOf('@fencepost/jobs')).toBeLessThan(names.indexOf('fencepost'));
    expect(names.filter((name) => budgets[name] === undefined)).toEqual([]);
  });

  it('move together to another version, and nothing else does', () => {
    const dependencies = { '@f/a': '1.0.0', zod: '^4.6.7' };
    const moved = inVersion({ ...library, name: '@f/b', dependencies }, { version: '1.1.0', names: new Set(['@f/a']) });
    expect(moved).toMatchObject({ version: '1.1.0', dependencies: { '@f/a': '1.1.0', zod: '^4.6.7' } });
  });

  it('are refused with uneven versions, private dependencies or without a home', () => {
    const { homepage: _, ...homeless } = library;
    const told = contradictions({
      'package.json': root,
      'libs/a/package.json': { ...homeless, version: '1.0.1', dependencies: { '@f/p': '1.0.0' } },
      'libs/p/package.json': { ...library, name: '@f/p', private: true },
    });
    expect(told).toEqual([
      'libs/a/package.json has not the version 1.0.0 throughout.',
      'libs/a/package.json depends on @f/p, which is private.',
      'libs/a/package.json has no "homepage".',
    ]);
  });
});
