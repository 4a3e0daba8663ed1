import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TRANSITIONS } from '../../libs/jobs/src/ledger/run-state.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The cells of each row of the first table under a heading. */
function table(markdown: string, heading: string): string[][] {
  const section = markdown.slice(markdown.indexOf(heading) + heading.length).split(/^## /m)[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the documentation', () => {
  it('shows the state table as the code has it', () => {
    const documented = table(read('libs/jobs/README.md'), '## States of a run');
    const actual = TRANSITIONS.map(({ from, event, to, when }) => [
      from ? `\`${from}\`` : '',
      event,
      `\`${to}\``,
      when,
    ]);
    expect(documented).toEqual(actual);
  });

  it('shows the example as it is compiled', () => {
    const shown = /```ts\n([\s\S]*?)```/.exec(read('README.md'))?.[1] ?? 'no example';
    const example = read('examples/nightly-report.ts');
    expect(example.slice(example.indexOf('@Injectable()'))).toBe(shown);
    expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
    expect(read('README.md').split('\n').indexOf('```ts')).toBeLessThan(10);
  });

  it('lists every option of @SingletonCron and of JobsModule, and none that does not exist', () => {
    const decorator = optionsOf('libs/jobs/src/nest/singleton-cron.decorator.ts', 'SingletonCronOptions');
    const handler = optionsOf('libs/jobs/src/nest/handler-options.ts', 'HandlerOptions');
    const module = optionsOf('libs/jobs/src/nest/options.ts', 'JobsModuleOptions');
    // Capitals are variables, which the next test looks at.
    const documented = [...read('README.md').matchAll(/^\| `([a-z][\w.]+)`/gm)].map((match) => match[1]);
    expect(new Set(documented)).toEqual(new Set([...decorator, ...handler, ...module]));
  });

  it('lists every variable a pod reads', () => {
    const source = read('libs/pod/src/environment.ts');
    const known = [...source.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map((match) => match[1] ?? '');
    expect(known.length).toBeGreaterThan(10);
    for (const variable of known) expect(read('README.md')).toContain(`\`${variable}\``);
  });
});

/** The keys of an options interface, those of a nested object as `outer.inner`. */
function optionsOf(path: string, name: string): string[] {
  const source = read(path);
  const body = source.slice(source.search(new RegExp(`interface ${name} (extends \\w+ )?\\{`))).split(/^\}/m)[0] ?? '';
  let outer = '';
  return body.split('\n').flatMap((line) => {
    const [, indent = '', named, method] = /^( +)(?:readonly (\w+)\??:|(\w+)\?\()/.exec(line) ?? [];
    const key = named ?? method ?? '';
    if (key === '') return [];
    if (indent.length > 2) return [`${outer}.${key}`];
    outer = key;
    return line.trimEnd().endsWith('{') ? [] : [key];
  });
}
