import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, afterEach, beforeEach } from 'vitest';
import { closeRedis } from './redis-connection.js';
import { readTexts } from '../base/read-texts.js';
import { loadScripts } from './redis-script.js';

describe('redis connection', () => {
  /** A connection that is being made to a node which is gone: asked to close, it never says that it has ended. */
  class Silent extends EventEmitter {
    readonly status = 'connecting';
    asked = 0;

    disconnect(): void {
      this.asked += 1;
    }
  }

  it('closing ends, although the connection never says that it has', { timeout: 5_000 }, async () => {
    const silent = new Silent();
    await closeRedis(silent as never);
    expect(silent.asked).toBe(1);
  });
});

describe('redis script', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'scripts-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(name: string, text: string): void {
    writeFileSync(join(folder, `${name}.lua`), text);
  }

  describe('loadScripts', () => {
    it('reads each script and puts included files in, also those that those include', () => {
      write('inner', 'local inner = 1\n');
      write('outer', '-- @include inner\nlocal outer = inner\n');
      write('main', '-- @include outer\nreturn outer\n');
      const { main } = loadScripts(readTexts(pathToFileURL(`${folder}/`).href), ['main']);
      expect(main.text).toBe('local inner = 1\nlocal outer = inner\nreturn outer\n');
    });

    it('includes a shared script of this package, from any folder', () => {
      write('main', '-- @include lease/server-time\nreturn now\n');
      const { main } = loadScripts(readTexts(pathToFileURL(`${folder}/`).href), ['main']);
      expect(main.text).toMatch(/redis\.call\('TIME'\)[\s\S]*local now = [\s\S]*return now/);
    });

    it('fails at once when a script is not there', () => {
      expect(() => loadScripts(readTexts(pathToFileURL(`${folder}/`).href), ['missing'])).toThrow(/missing\.lua/);
    });
  });
});
