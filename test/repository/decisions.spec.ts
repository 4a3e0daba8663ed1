import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';

const SECTIONS = ['Context', 'Decision', 'Consequences', 'What would change our mind'];
/** What one sees at once of a page that is printed. */
const MAX_LINES = 60;

const pages = projectFiles(/^docs\/adr\/\d{4}-[a-z0-9-]+\.md$/).toSorted((a, b) => (a.path < b.path ? -1 : 1));
const names = new Set(projectFiles().map(({ path }) => path.split('/').at(-1)));
const read = (path: string) => projectFiles(new RegExp(`^${path.replaceAll('.', '\\.')}$`))[0]?.text ?? '';

describe('the decision records', () => {
  it('are numbered without a gap', () => {
    expect(pages.map(({ path }) => Number(path.slice('docs/adr/'.length).slice(0, 4)))).toEqual(
      pages.map((_, n) => n + 1),
    );
  });

  it.each(pages)('$path has its four sections, on one page', ({ text }) => {
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual(SECTIONS);
    expect(text.split('\n').length).toBeLessThanOrEqual(MAX_LINES);
  });

  it.each(pages)('$path names files that exist', ({ text }) => {
    const named = [...text.matchAll(/`(?:[\w./-]+\/)?([\w.-]+\.(?:ts|lua|sql|md))`/g)].map(([, name]) => name);
    expect(named.filter((name) => !names.has(name))).toEqual([]);
  });

  it('are listed in their index, which README and CONTRIBUTING link', () => {
    const index = read('docs/adr/README.md');
    expect(pages.filter(({ path }) => !index.includes(`(${path.split('/').at(-1)})`))).toEqual([]);
    expect(read('README.md')).toContain('(docs/adr/README.md)');
    expect(read('CONTRIBUTING.md')).toContain('(docs/adr/README.md)');
  });
});
