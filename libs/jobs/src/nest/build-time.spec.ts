import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTime } from './build.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'build-time-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A file that was written in this second of 2030. */
function file(path: string, second: number): string {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, '');
  const at = new Date(Date.UTC(2030, 0, 1, 0, 0, second));
  utimesSync(whole, at, at);
  return whole;
}

const at = (second: number) => Date.UTC(2030, 0, 1, 0, 0, second);

describe('the build time', () => {
  it('is when the newest file beside or below the entry was written', () => {
    const entry = file('main.js', 10);
    expect(buildTime(entry)).toBe(at(10));
    file('beside.mjs', 20);
    expect(buildTime(entry)).toBe(at(20));
    file('jobs/deep/report.cjs', 30);
    expect(buildTime(entry)).toBe(at(30));
    file('jobs/from-source.ts', 40);
    expect(buildTime(entry)).toBe(at(40));
  });

  it('is not moved by what is no code of the program: packages, hidden folders, logs, caches', () => {
    const entry = file('main.js', 10);
    for (const path of ['node_modules/p/index.js', '.cache/x.js', 'app.log', 'state.json', 'jobs/data.sqlite'])
      file(path, 50);
    expect(buildTime(entry)).toBe(at(10));
  });

  it('survives a link that leads nowhere', () => {
    const entry = file('main.js', 10);
    symlinkSync(join(folder, 'gone.js'), join(folder, 'link.js'));
    expect(buildTime(entry)).toBe(at(10));
  });

  it('is 0 for a program that is no file, so that it overrides nothing', () => {
    expect(buildTime(join(folder, 'no', 'such', 'main.js'))).toBe(0);
    expect(buildTime(undefined)).toBeGreaterThanOrEqual(0);
  });
});
