import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appName } from './build.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'app-name-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
}

describe('the name of an app', () => {
  it('stands in the package.json that is nearest to its program', () => {
    write('package.json', '{ "name": "everything" }');
    write('apps/mail/package.json', '{ "name": "@shop/mail" }');
    expect(appName(join(folder, 'apps/mail/dist/main.js'))).toBe('@shop/mail');
    expect(appName(join(folder, 'apps/mail/bundle/main.js'))).toBe('@shop/mail');
    expect(appName(join(folder, 'main.js'))).toBe('everything');
    expect(appName(join(folder, 'src/main.ts'))).toBe(appName(join(folder, 'dist/index.mjs')));
  });

  it('is not the same for two programs of one package, or one would remove what the other declares', () => {
    write('package.json', '{ "name": "everything" }');
    expect(appName(join(folder, 'dist/apps/mail/main.js'))).toBe('everything/apps/mail/main');
    expect(appName(join(folder, 'dist/apps/other/main.js'))).toBe('everything/apps/other/main');
    expect(appName(join(folder, 'dist/worker.js'))).toBe('everything/worker');
  });

  it('is the same word for every program that stands in no package', () => {
    expect(appName('/main.js')).toBe('default');
    expect(appName('')).toBeTypeOf('string');
    // `node -e` and a REPL are no file at all.
    expect(appName(undefined)).toBeTypeOf('string');
  });
});
