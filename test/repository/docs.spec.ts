import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';
import { program } from '../../apps/cli/src/program.js';

const SECTIONS = ['Context', 'Decision', 'Consequences', 'What would change our mind'];

/** What one sees at once of a page that is printed. */
const MAX_LINES = 60;

const read = (path: string) => projectFiles(new RegExp(`^${path.replaceAll('.', '\\.')}$`))[0]?.text ?? '';

describe('the decision records', () => {
  const pages = projectFiles(/^docs\/adr\/\d{4}-[a-z0-9-]+\.md$/).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const names = new Set(projectFiles().map(({ path }) => path.split('/').at(-1)));

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

/** Headings as anchors, the way GitHub builds them. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm);
  const slugs = [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(slugs);
}

describe('the links of the documentation', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));

  const pages = projectFiles(/\.md$/);

  function isBroken(page: string, target: string): boolean {
    const [file = '', anchor] = target.split('#');
    const path = file === '' ? join(root, page) : join(root, dirname(page), file);
    if (!existsSync(path)) return true;
    return anchor !== undefined && path.endsWith('.md') && !anchorsOf(readFileSync(path, 'utf8')).has(anchor);
  }

  function brokenLinks(page: string, markdown: string): string[] {
    const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    return targets.filter((target) => !/^[a-z]+:/.test(target) && isBroken(page, target));
  }

  it.each(pages)('$path links to files and headings that exist', ({ path, text }) => {
    expect(brokenLinks(path, text)).toEqual([]);
  });

  it('would be found out otherwise', () => {
    const text = '[a](gone.md) [b](README.md#gone) [c](#the-proof) [d](LICENSE) [e](https://example.org/gone.md)';
    expect(brokenLinks('README.md', text)).toEqual(['gone.md', 'README.md#gone']);
  });
});

const OPERATING = 'docs/operating.md';

const nowhere = () => Promise.reject(new Error('Expected nothing to be done.'));

type Command = ReturnType<typeof program>;

/** Everything behind `npx fencepost` up to the end of its line, or of its code span. */
function commandLines(markdown: string): string[] {
  return [...markdown.matchAll(/npx fencepost ([^`\n#]+)/g)].map(([, line = '']) => line.trim());
}

/** Like a shell, as far as what stands in our docs needs. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
}

/** The anchor of a heading, as every place that shows Markdown makes it. */
function slugOf(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

describe('the runbook', () => {
  const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

  const DOCS = [
    'README.md',
    'apps/cli/README.md',
    ...readdirSync(new URL('../../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  ];

  const world = {
    ...{ out: () => {}, err: () => {}, env: {}, now: () => 0, width: 80, user: () => 'otto', read: nowhere },
    interrupted: () => new AbortController().signal,
  };

  const whole = program({ world, answer: () => {} });

  /** What is wrong with a command line, as far as its words tell. */
  function objection(line: string): string | null {
    const [name = '', ...rest] = words(line.replace(/[.,;:]$/, ''));
    if (name.startsWith('-') || name.startsWith('<') || name === '…') return null;
    let command: Command | undefined = whole.commands.find((known) => known.name() === name);
    if (!command) return `there is no command "${name}"`;
    const inner: Command | undefined = command.commands.find((known) => known.name() === rest[0]);
    command = inner ?? command;
    const known = new Set(command.options.flatMap(({ long, short }) => [long, short]));
    const unknown = rest.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0]);
    const missing = unknown.find((option) => !known.has(option) && option !== '--help');
    return missing === undefined ? null : `"${command.name()}" has no option ${missing}`;
  }

  it('has a step for each trouble, and each begins with what one sees and ends with how one knows that it is over', () => {
    const sections = textOf(OPERATING).split(/^## /m).slice(1);
    expect(sections.length).toBeGreaterThanOrEqual(9);
    for (const section of sections) {
      expect(section.split('\n').slice(1).join('\n').trim(), section.split('\n')[0]).toMatch(/^_/);
      expect(section, section.split('\n')[0]).toContain('**Over** when');
      expect(commandLines(section).length, section.split('\n')[0]).toBeGreaterThan(0);
    }
  });

  it('has a section for each alert that rings, and names no alert that does not', () => {
    const rules = textOf('ops/prometheus/alerts.yml');
    const alerts = new Set([...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name));
    expect(alerts.size).toBeGreaterThan(10);
    const headings = [...textOf(OPERATING).matchAll(/^## (.+)$/gm)].map(([, text = '']) => slugOf(text));
    const wanted = [...rules.matchAll(/operating\.md#([\w-]+)/g)].map(([, anchor]) => anchor);
    expect(wanted.filter((anchor) => !headings.includes(anchor ?? ''))).toEqual([]);
    const named = [...textOf(OPERATING).matchAll(/`(Fencepost[A-Z]\w+)`/g)].map(([, name]) => name);
    expect(named.filter((name) => !alerts.has(name))).toEqual([]);
  });

  it('names findings as doctor prints them', () => {
    const doctor = projectFiles(/^libs\/operations\/src\/operating\/doctor-[\w-]+\.ts$/).map(({ text }) => text);
    const said = [...textOf(OPERATING).matchAll(/`((?!FENCEPOST_)[A-Z]+_[A-Z_]+)`|`doctor` reports `([^`]+)`/g)];
    const named = said.flatMap(([, code, reported]) => code ?? reported ?? []);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((code) => !doctor.some((text) => new RegExp(`\\b${code}\\b`).test(text)))).toEqual([]);
  });

  it.each(DOCS)('%s names commands and options that exist', (file) => {
    const wrong = commandLines(textOf(file)).flatMap((line) => {
      const why = objection(line);
      return why === null ? [] : [`${line}: ${why}`];
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['rescue nightly-report', 'there is no command "rescue"'],
    ['pause nightly-report --why it', '"pause" has no option --why'],
  ])('"%s" would be noticed', (line, why) => {
    expect(objection(line)).toBe(why);
  });
});
