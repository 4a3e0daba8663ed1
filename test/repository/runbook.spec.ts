import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { program } from '../../apps/cli/src/program.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const OPERATING = 'docs/operating.md';
const DOCS = [
  'README.md',
  'apps/cli/README.md',
  ...readdirSync(new URL('../../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

const nowhere = () => Promise.reject(new Error('Expected nothing to be done.'));
const world = {
  ...{ out: () => {}, err: () => {}, env: {}, now: () => 0, width: 80, user: () => 'otto', read: nowhere },
  interrupted: () => new AbortController().signal,
};
const whole = program({ world, answer: () => {} });

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

describe('the runbook', () => {
  it('has a step for each trouble, and each begins with what one sees and ends with how one knows that it is over', () => {
    const sections = read(OPERATING).split(/^## /m).slice(1);
    expect(sections.length).toBeGreaterThanOrEqual(9);
    for (const section of sections) {
      expect(section.split('\n').slice(1).join('\n').trim(), section.split('\n')[0]).toMatch(/^_/);
      expect(section, section.split('\n')[0]).toContain('**Over** when');
      expect(commandLines(section).length, section.split('\n')[0]).toBeGreaterThan(0);
    }
  });

  it('has a section for each alert that rings, and names no alert that does not', () => {
    const rules = read('ops/prometheus/alerts.yml');
    const alerts = new Set([...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name));
    expect(alerts.size).toBeGreaterThan(10);
    const headings = [...read(OPERATING).matchAll(/^## (.+)$/gm)].map(([, text = '']) => slugOf(text));
    const wanted = [...rules.matchAll(/operating\.md#([\w-]+)/g)].map(([, anchor]) => anchor);
    expect(wanted.filter((anchor) => !headings.includes(anchor ?? ''))).toEqual([]);
    const named = [...read(OPERATING).matchAll(/`(Fencepost[A-Z]\w+)`/g)].map(([, name]) => name);
    expect(named.filter((name) => !alerts.has(name))).toEqual([]);
  });

  it.each(DOCS)('%s names commands and options that exist', (file) => {
    const wrong = commandLines(read(file)).flatMap((line) => {
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
