import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface LockFile {
  readonly packages: Record<string, { optionalDependencies?: Record<string, string> }>;
}

const { packages } = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as LockFile;

describe('package-lock.json', () => {
  it('has every optional package of every platform, or "npm ci" refuses it on all of them', () => {
    const known = new Set(Object.keys(packages).map((key) => key.split('node_modules/').at(-1)));
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter((name) => !known.has(name))).toEqual([]);
  });

  it('names no host, so that everybody installs from the registry of their own', () => {
    expect(JSON.stringify(packages)).not.toMatch(/"resolved":"https?:/);
  });
});
