import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appName, codeDigest } from './application.js';

describe('the application', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'application-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    const whole = join(folder, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
  }

  describe('appName', () => {
    it('answers the name in the nearest package.json above the program', () => {
      write('package.json', '{ "name": "everything" }');
      write('apps/mail/package.json', '{ "name": "@shop/mail" }');
      write('apps/mail/dist/package.json', '{ "type": "module" }');
      expect(appName(join(folder, 'apps/mail/dist/main.js'))).toBe('@shop/mail');
      expect(appName(join(folder, 'main.js'))).toBe('everything');
    });

    it('answers one name for all programs of a package, whatever each is called', () => {
      write('package.json', '{ "name": "everything" }');
      const names = ['dist/main.js', 'dist/apps/mail/main.js', 'src/worker.ts'].map((path) =>
        appName(join(folder, path)),
      );
      expect(new Set(names)).toEqual(new Set(['everything']));
    });

    it('answers the name of a program that is started as a folder', () => {
      write('package.json', '{ "name": "everything" }');
      write('app/package.json', '{ "name": "shop" }');
      expect(appName(join(folder, 'app'))).toBe('shop');
    });

    it('looks above the working directory when the program is a runner, or no file', () => {
      write('package.json', '{ "name": "workspace" }');
      write('node_modules/@nx/js/package.json', '{ "name": "@nx/js" }');
      const runner = join(folder, 'node_modules/@nx/js/src/executors/node.js');
      expect(appName(runner, join(folder, 'apps'))).toBe('workspace');
      expect(appName(undefined, join(folder, 'apps'))).toBe('workspace');
      expect(appName('', folder)).toBe('workspace');
    });

    it('answers "default" for a program that stands in no package', () => {
      expect(appName('/main.js')).toBe('default');
    });
  });

  describe('codeDigest', () => {
    it('depends on the content and the names of the code, and on nothing else', async () => {
      write('dist/main.js', 'one');
      write('dist/jobs/report.js', 'two');
      const digest = await codeDigest(join(folder, 'dist/main.js'));
      expect(digest).toMatch(/^[\w-]{12}$/);
      utimesSync(join(folder, 'dist/main.js'), 0, 0);
      write('dist/log.txt', 'not code');
      write('dist/node_modules/x/index.js', 'of another package');
      expect(await codeDigest(join(folder, 'dist/main.js'))).toBe(digest);
      expect(await codeDigest(join(folder, 'dist'))).toBe(digest);
      write('dist/jobs/report.js', 'three');
      expect(await codeDigest(join(folder, 'dist/main.js'))).not.toBe(digest);
    });

    it('answers null for a runner, for no file, and for a program that is too large to be read at boot', async () => {
      write('dist/main.js', 'one');
      expect(await codeDigest(join(folder, 'node_modules/x/main.js'))).toBeNull();
      expect(await codeDigest('')).toBeNull();
      expect(await codeDigest(join(folder, 'gone/main.js'))).toBeNull();
      for (let n = 0; n < 1_001; n += 1) write(`dist/many/${n}.js`, '');
      expect(await codeDigest(join(folder, 'dist/main.js'))).toBeNull();
    });
  });
});
