import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { leaseMetrics } from '@fencepost/lease/metrics';
import { TRANSITIONS } from '@fencepost/ledger/run';
import { projectFiles } from './project-files.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The cells of each row of the first table under a heading. */
function table(markdown: string, heading: string): string[][] {
  const section = markdown.slice(markdown.indexOf(heading) + heading.length).split(/^##+ /m)[0] ?? '';
  const [lines = []] = (section.match(/^\|.*(?:\n\|.*)*/m) ?? []).map((rows) => rows.split('\n'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const FIRST_TS = /```ts\n([\s\S]*?)```/;
const FIRST_SH = /```sh\n([\s\S]*?)```/;

const CRONS = 'docs/reference/crons-and-jobs.md';

const EFFECTS = 'docs/reference/effects.md';

const MODULE = 'docs/reference/module-and-pods.md';

const NEST = 'libs/jobs/src/nest';

const RUNNING = 'libs/jobs/src/running';

/** Each table of options, and the interface that it lists. */
const OPTIONS = [
  {
    page: CRONS,
    heading: '## Cron options',
    source: `${NEST}/singleton-cron.decorator.ts`,
    type: 'SingletonCronOptions',
  },
  { page: CRONS, heading: '## Handler options', source: `${NEST}/handler-options.ts`, type: 'HandlerOptions' },
  { page: MODULE, heading: '## Module options', source: `${NEST}/options.ts`, type: 'JobsModuleOptions' },
  { page: CRONS, heading: '## Jobs', source: `${NEST}/job-handler.decorator.ts`, type: 'JobHandlerOptions' },
  {
    page: CRONS,
    heading: '### Enqueue options',
    source: 'libs/jobs/src/enqueuing/job-order.ts',
    type: 'EnqueueOptions',
  },
  { page: MODULE, heading: '### Webhooks', source: `${NEST}/notification-options.ts`, type: 'WebhookOptions' },
  { page: MODULE, heading: '### Alarms', source: `${NEST}/notification-options.ts`, type: 'AlarmOptions' },
  { page: MODULE, heading: '### PostgreSQL', source: `${NEST}/options.ts`, type: 'PostgresOptions' },
  {
    page: EFFECTS,
    heading: '## `run.effect(name, act, options)`',
    source: `${RUNNING}/effect-options.ts`,
    type: 'EffectOptions',
  },
  {
    page: EFFECTS,
    heading: '## `run.transaction(work, options)`',
    source: `${RUNNING}/transaction.ts`,
    type: 'TransactionOptions',
  },
  {
    page: EFFECTS,
    heading: '## `run.forEach(items, keyOf, act, options)`',
    source: `${RUNNING}/effect-options.ts`,
    type: 'ForEachOptions',
  },
];

const SAID = 'libs/jobs/src/nest/singleton-cron.decorator.ts';

/** The keys of an options interface, those of a nested object as `outer.inner`, with what crons and jobs say of themselves. */
function optionsOf(path: string, name: string): string[] {
  const source = read(path);
  const start = source.search(new RegExp(`interface ${name}(<.*>)? (extends [\\w, ]+ )?\\{`));
  const body = source.slice(start).split(/^\}/m)[0] ?? '';
  const own = keysOf(body);
  return /extends .*SaidOptions/.test(body) ? [...optionsOf(SAID, 'SaidOptions'), ...own] : own;
}

function keysOf(body: string): string[] {
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

  it('shows the example as it is compiled, with its imports, and begins with it', () => {
    const readme = read('README.md').split('\n');
    const example = read('examples/nightly-report.ts');
    expect(FIRST_TS.exec(read('README.md'))?.[1]).toBe(example);
    expect(FIRST_TS.exec(read('docs/getting-started.md'))?.[1]).toBe(example);
    expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
    // Below its name, what it is, the recording and the installation.
    expect(readme.indexOf('```ts')).toBeLessThan(11);
    expect(readme[4]).toMatch(/^!\[.+\]\(docs\/images\/recording\.webp\)$/);
  });

  it('shows one line that installs, with versions that the packages allow', () => {
    const [readme, guide] = ['README.md', 'docs/getting-started.md'].map((page) => FIRST_SH.exec(read(page))?.[1]);
    expect(guide).toBe(readme);
    const { peerDependencies } = JSON.parse(read('libs/jobs/package.json')) as { peerDependencies: object };
    const shown = [...(readme ?? '').matchAll(/ (bullmq|ioredis)@(\d+)/g)].map(([, name, major]) => [name, major]);
    expect(shown.map(([name]) => name)).toEqual(['bullmq', 'ioredis']);
    for (const [name = '', major] of shown) expect(Reflect.get(peerDependencies, name)).toMatch(`^${major}.`);
  });

  it('shows how to answer probes and Prometheus as it is compiled', () => {
    const shown = [...read('libs/console/README.md').matchAll(/```ts\n(@Controller[\s\S]*?)```/g)].map(
      ([, code = '']) => code,
    );
    expect(shown.map((code) => read('examples/observed-app.ts').includes(code))).toEqual([true, true]);
  });

  it.each(OPTIONS)('$page lists every option under "$heading", and none that does not exist', (options) => {
    const documented = table(read(options.page), `\n${options.heading}\n`).map(([name = '']) =>
      name.replaceAll('`', ''),
    );
    expect(documented.length).toBeGreaterThan(0);
    expect(documented.toSorted()).toEqual(optionsOf(options.source, options.type).toSorted());
  });

  it('lists every variable a pod reads', () => {
    const source = read('libs/pod/src/environment.ts');
    const known = [...source.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map((match) => match[1] ?? '');
    expect(known.length).toBeGreaterThan(10);
    for (const variable of known) expect(read(MODULE)).toContain(`\`${variable}\``);
  });

  it('lists every variable that JobsModule reads', () => {
    const known = new Set(read(`${NEST}/environment.ts`).match(/FENCEPOST_[A-Z_]+/g));
    expect(known).toContain('FENCEPOST_ROLES');
    for (const variable of known) expect(read(MODULE)).toContain(`\`${variable}\``);
  });

  it.each([CRONS, EFFECTS, MODULE])('%s says what an option means in at most 15 words', (page) => {
    const rows = read(page).match(/^\|.*\|$/gm) ?? [];
    const meanings = rows.map((row) => row.split('|').at(-2)?.trim() ?? '');
    expect(meanings.length).toBeGreaterThan(10);
    expect(meanings.filter((text) => (text.match(/[\w'’-]+(\.[\w-]+)*/g) ?? []).length > 15)).toEqual([]);
  });

  it('is short where it begins: the README has at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });
});

function inOrder(rows: readonly string[][]): string[][] {
  return rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
}

const quoted = (text: string) => `\`${text}\``;

async function metrics(): Promise<string[][]> {
  const registry = new Registry();
  leaseMetrics({ registry })({ name: 'node.health', node: 'a', healthy: true });
  const described = await registry.getMetricsAsJSON();
  // Its older names are listed in docs/metrics.md, which is generated.
  const ours = described.filter(({ name }) => name.startsWith('fencepost_'));
  return ours.map(({ name, type }) => {
    const { labelNames } = registry.getSingleMetric(name) as unknown as { readonly labelNames: readonly string[] };
    return [quoted(name), String(type), labelNames.map(quoted).join(', ')];
  });
}

/** Every error that is thrown on purpose says its code in this way, and a class has no other way to say one. */
function errors(): string[][] {
  const sources = projectFiles(/^libs\/lease\/src\/.*\.ts$/).filter(({ path }) => !path.endsWith('.spec.ts'));
  const classes = sources.flatMap(({ text }) => text.split(/^(?=export (?:abstract )?class )/m));
  return classes.flatMap((source) => {
    const [, name = ''] = /^export class (\w+) extends \w+Error\b/.exec(source) ?? [];
    if (name === '') return [];
    const [, code = `no code in ${name}`] = /^ {2}readonly code(?:: string)? = '(\w+)'/m.exec(source) ?? [];
    return [[quoted(code), quoted(name)]];
  });
}

describe('the documentation of the leases', () => {
  const readme = readFileSync(new URL('../../libs/lease/README.md', import.meta.url), 'utf8');

  /** The first `columns` cells of each row of the first table under a heading, in the order of the first. */
  function documented(heading: string, columns: number): string[][] {
    const [, section = ''] = `\n${readme}`.split(`\n## ${heading}\n`);
    const lines = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
    const rows = lines.slice(2).map((line) => line.split('|').slice(1, -1));
    return inOrder(rows.map((cells) => cells.slice(0, columns).map((cell) => cell.trim())));
  }

  it('lists every metric with its kind and its labels', async () => {
    expect(documented('Metrics', 3)).toEqual(inOrder(await metrics()));
  });

  it('lists every error with its code and its class', () => {
    expect(errors().length).toBeGreaterThan(4);
    expect(documented('Errors', 2)).toEqual(inOrder(errors()));
  });
});
