import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAll } from './write-all.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'write-all-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('changes of files', () => {
  it('are taken back where the next one can not be written', () => {
    const [changed, added] = [join(folder, 'a.ts'), join(folder, 'b.ts')];
    writeFileSync(changed, 'before');
    const changes = [
      { file: changed, before: 'before', text: 'after' },
      { file: added, before: '', text: 'new', isNew: true },
    ];
    const lost = { file: join(folder, 'nowhere/c.ts'), before: 'c', text: 'd' };
    expect(() => writeAll([...changes, lost])).toThrow(/^Nothing was changed: ENOENT/);
    expect([readFileSync(changed, 'utf8'), existsSync(added)]).toEqual(['before', false]);
    writeAll(changes);
    expect([readFileSync(changed, 'utf8'), readFileSync(added, 'utf8')]).toEqual(['after', 'new']);
  });
});
