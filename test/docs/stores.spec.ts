import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { JobsModuleOptions } from '@fencepost/jobs';
import { ZookeeperLeaseStore } from '@fencepost/lease/zookeeper';
import { STORES } from '../../bench/stores/names.mjs';
import { projectFiles } from '../repository/project-files.js';
import { missingTests, NAMED_TEST } from '../support/test-titles.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(root + file, 'utf8');

const SOURCE = /^ +- \[[^\]]+\]\(https:\/\/[^)]+\)/m;
const ALERTS = read('ops/prometheus/alerts.yml');

/** Advice, which follows from the claims beside it. */
const ADVICE = '- **Choose it**';

/** The bullets of a page, each with what is indented below it. */
function bulletsOf(markdown: string): string[] {
  return markdown.split(/^(?=- |#|\n)/m).filter((part) => part.startsWith('- '));
}

function sectionsOf(markdown: string): string[] {
  return markdown.split(/^(?=##+ )/m).slice(1);
}

const isShown = (text: string) => text.match(NAMED_TEST) !== null || SOURCE.test(text);

describe.each(['docs/stores.md', 'docs/choosing.md'])('%s', (page) => {
  const markdown = read(page);

  it('names tests that exist, by their file and exact title', () => {
    expect(markdown.match(NAMED_TEST)?.length).toBeGreaterThan(10);
    expect(missingTests(markdown)).toEqual([]);
  });
});

it('a test that is not there would be found out', () => {
  const spec = 'test/lease/counter.spec.ts';
  expect(missingTests(`- **A claim.**\n  - \`${spec}\` › is not there\n  - \`gone.spec.ts\` › either`)).toEqual([
    `${spec} › is not there`,
    'gone.spec.ts › either',
  ]);
});

describe('the page of lease stores', () => {
  const page = read('docs/stores.md');

  it('names a test or a source for each claim', () => {
    const claims = bulletsOf(page).filter((bullet) => !bullet.startsWith(ADVICE));
    expect(claims.length).toBeGreaterThan(30);
    expect(claims.filter((claim) => !isShown(claim))).toEqual([]);
  });

  it('has a section for every store that the package exports, which says when to choose it', async () => {
    const { exports } = JSON.parse(read('libs/lease/package.json')) as { exports: Record<string, unknown> };
    const entries = Object.keys(exports).filter((entry) => !/internal|json/.test(entry));
    const modules = await Promise.all(
      entries.map((entry) => import(`@fencepost/lease${entry.slice(1)}`) as Promise<Record<string, unknown>>),
    );
    const stores = modules.flatMap((names) => Object.keys(names)).filter((name) => name.endsWith('LeaseStore'));
    expect(stores.length).toBeGreaterThan(5);
    const sections = sectionsOf(page).filter((section) => section.includes(ADVICE));
    const without = stores.filter((store) => !sections.some((section) => section.includes(`\n\`${store}\``)));
    expect(without).toEqual([]);
  });

  it('shows a function that opens ZooKeeper for pods, as it is compiled', async () => {
    const options: Pick<JobsModuleOptions, 'leases'> = {
      leases: ({ commandTimeoutMs, ...place }) => ({
        store: new ZookeeperLeaseStore({
          ...place,
          servers: ['a:2181', 'b:2181', 'c:2181'],
          timeoutMs: commandTimeoutMs,
        }),
        close: async () => {},
      }),
    };
    expect(options.leases).toBeTypeOf('function');
    const [, shown = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    const [compiled, block] = [read('test/docs/stores.spec.ts'), shown].map((code) => code.replaceAll(/[\s,]+/g, ''));
    expect(compiled).toContain(block);
  });

  it('shows what an acquire costs in every store that is measured', () => {
    const cost = sectionsOf(page).find((section) => section.startsWith('## Cost of an acquire')) ?? '';
    const rows = [...cost.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(rows).toEqual(STORES);
  });
});

describe('the page of choosing', () => {
  it('names a test or a source in each section', () => {
    const sections = sectionsOf(read('docs/choosing.md'));
    expect(sections.filter((section) => !isShown(section)).map((section) => section.split('\n')[0])).toEqual([]);
  });

  it('has sixteen points to check, and names findings and alerts that exist', () => {
    const points = read('docs/choosing.md').match(/^\| \d+ .*$/gm) ?? [];
    expect(points.map((point) => Number.parseInt(point.slice(2), 10))).toEqual(
      Array.from({ length: 16 }, (_, n) => n + 1),
    );
    const sources = projectFiles(/^libs\/(lease|operations)\/src\/.*(?<!\.spec)\.ts$/).map(({ text }) => text);
    const exists = (name: string) =>
      sources.some((text) => text.includes(`'${name}'`)) || ALERTS.includes(`: ${name}\n`);
    const named = points.flatMap((point) =>
      [...point.matchAll(/`([A-Z]+_[A-Z_]+|EVICTION|Fencepost\w+)`/g)].map(([, name = '']) => name),
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });
});
