import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportedNames, overBudget } from '../../scripts/exports.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the entries of the libraries', () => {
  it('export no more names than their budget', () => {
    expect(overBudget(exportedNames(root))).toEqual([]);
  });

  it('of @fencepost/lease stay a small core and focused further entries', () => {
    const budgets = exportedNames(root).filter(({ entry }) => entry.startsWith('@fencepost/lease'));
    expect(budgets.length).toBeGreaterThan(8);
    for (const { entry, budget } of budgets) expect(budget).toBeLessThanOrEqual(entry === '@fencepost/lease' ? 25 : 15);
  });
});

describe('the count of exported names', () => {
  let repository: string;
  beforeEach(() => {
    repository = mkdtempSync(join(tmpdir(), 'repository-'));
    const exports = { '.': source('./src/index.ts'), './more': source('./src/more.ts') };
    write('libs/planted/package.json', JSON.stringify({ name: '@fencepost/planted', exports }));
    write(
      'libs/planted/src/more.ts',
      "export const a = 1, b = 2;\nexport type { T } from './t.js';\nconst hidden = 1;",
    );
    write('libs/planted/src/t.ts', 'export interface T {}\nexport class Other {}\nexport async function run() {}');
    write('libs/planted/src/index.ts', "export * from './t.js';\nexport * from './more.js';");
  });
  afterEach(() => rmSync(repository, { recursive: true, force: true }));

  const source = (path: string) => ({ '@fencepost/source': path });
  function write(file: string, text: string): void {
    mkdirSync(dirname(join(repository, file)), { recursive: true });
    writeFileSync(join(repository, file), text);
  }

  it('includes types, follows export * and counts a name once', () => {
    const [main, more] = exportedNames(repository);
    expect(main).toEqual({ entry: '@fencepost/planted', names: ['Other', 'T', 'a', 'b', 'run'], budget: 30 });
    expect(more).toEqual({ entry: '@fencepost/planted/more', names: ['T', 'a', 'b'], budget: 15 });
  });

  it('complains about an entry over its budget', () => {
    const names = Array.from({ length: 16 }, (_, at) => `export const n${at} = ${at};`);
    write('libs/planted/src/more.ts', names.join('\n'));
    expect(overBudget(exportedNames(repository))).toEqual([
      '@fencepost/planted/more exports 16 names, its budget is 15.',
    ]);
  });

  it('leaves out a private package', () => {
    write('libs/planted/package.json', JSON.stringify({ name: '@fencepost/planted', private: true, exports: {} }));
    expect(exportedNames(repository)).toEqual([]);
  });
});
