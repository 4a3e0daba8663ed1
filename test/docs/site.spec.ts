import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { limitsPage } from '../../scripts/docs/limits.mjs';
import { builtSources } from '../../scripts/docs/sources.mjs';
import { pages } from '../../scripts/stranger/pages.mjs';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

describe('the page of limits', () => {
  beforeAll(() => ensureBuilt(), 600_000);

  it('has the range of every option, and every number', async () => {
    const page = await limitsPage(await builtSources());
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
    expect(rows.filter((row) => /\| *(|any value|undefined|.*has no option.*) *\|$/.test(row))).toEqual([]);
    expect(rows).toContainEqual(expect.stringMatching(/^\| `concurrency` +\| a whole number from 1 to 10000 +\|$/));
    expect(rows).toContainEqual(expect.stringMatching(/^\| `grace` +\| a duration from/));
    expect(rows.length).toBeGreaterThan(80);
  });
});

/** Without what the surroundings add: indentation, and line breaks of another width. */
const squeezed = (code: string) => code.replaceAll(/\s+/g, '').replaceAll(/,(?=[)\]}])/g, '');

describe('the code of the guide', () => {
  const examples = readdirSync(new URL('examples', root)).filter((file) => file.endsWith('.ts'));
  // What a stranger types is compiled, and run, where packages are packed.
  const compiled = [...examples.map((file) => read(`examples/${file}`)), pages().main].map(squeezed);
  const guide = ['getting-started.md', 'concepts.md', 'good-fit.md', 'effects-cookbook.md', 'testing-your-jobs.md'];

  it.each(guide)('docs/%s shows nothing that is not compiled', (page) => {
    const blocks = [...read(`docs/${page}`).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    // An import shown with one excerpt stands at the top of its file.
    const parts = blocks.flatMap((block) => block.split(/\n\n/)).map(squeezed);
    expect(parts.filter((part) => !compiled.some((text) => text.includes(part)))).toEqual([]);
  });

  it('shows the Dockerfile that is carried out', () => {
    const [, shown] = /```dockerfile\n([\s\S]*?)```/.exec(read('docs/deploying.md')) ?? [];
    expect(shown).toBe(read('examples/worker-image/Dockerfile'));
    expect(
      shown
        ?.trim()
        .split('\n')
        .filter((line) => line !== '').length,
    ).toBeLessThanOrEqual(12);
  });
});
