import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CRON_METRICS, LEASE_METRICS, METRICS, type MetricSpec } from '@fencepost/operations/metrics';
import { describe, expect, it } from 'vitest';
import { alertList, quorumAlerts } from '../../scripts/ops/alert-list.mjs';
import { opsFiles, ownFiles } from '../../scripts/ops/files.mjs';
import { ask } from '../../scripts/ops/promql.mjs';
import { promtool } from '../support/prometheus-text.js';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const DASHBOARD = 'ops/grafana/fencepost.json';
const RULES = 'ops/prometheus/alerts.yml';
const RULE_OBJECT = 'ops/kubernetes/components/monitoring/prometheus-rule.yaml';

const list: readonly MetricSpec[] = Object.values(METRICS);
const alerts = alertList(METRICS);
const every = [...alerts, ...quorumAlerts(METRICS)];
const files = await opsFiles({ METRICS, CRON_METRICS, LEASE_METRICS });

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const { panels } = JSON.parse(read(DASHBOARD)) as { readonly panels: readonly Panel[] };
const queries = [
  ...every.map(({ name, expr }) => [name, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** Labels that Prometheus itself puts on what it reads, and one that every metric has. */
const OF_THE_SCRAPE = ['instance', 'le', 'deployment'];

const metricOf = (series: string) =>
  list.find(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(series) : name === series,
  );

/** What an expression asks that nobody can answer. */
function unknownIn(expr: string): string[] {
  const series = [...expr.matchAll(/\b(fencepost_\w+)(?:\{([^}]*)\})?/g)];
  const known = series.flatMap(([, name = '']) => metricOf(name) ?? []);
  const labels = new Set(known.flatMap((metric) => Object.keys(metric.labels)));
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inside = '']) => inside.split(', '));
  return [
    ...series.filter(([, name = '']) => !metricOf(name)).map(([, name]) => `the series ${name}`),
    ...grouped.filter((label) => !labels.has(label) && !OF_THE_SCRAPE.includes(label)).map((label) => `by ${label}`),
    ...series.flatMap(([, name = '', inside = '']) => wrongMatchers(metricOf(name), inside)),
  ];
}

function wrongMatchers(metric: MetricSpec | undefined, inside: string): string[] {
  const matchers = inside === '' ? [] : inside.split(', ');
  return matchers.filter((matcher) => {
    const [, label = '', operator, value = ''] = /^(\w+)(=~?)"([^"]*)"$/.exec(matcher) ?? [];
    if (label === 'deployment') return false;
    const values = metric?.labels[label];
    return values === undefined || (values !== null && operator === '=' && !values.includes(value));
  });
}

describe('what is made from the list of metrics', () => {
  it.each(Object.keys(files))('%s is what "npm run ops" makes of it now', (file) => {
    expect(read(file)).toBe(files[file]);
  });

  it.each(queries)('%s asks only for metrics and labels that there are: %s', (_, expr) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(expr).toMatch(/fencepost_/);
  });

  it('shows or watches every metric', () => {
    const asked = queries.map(([, expr]) => expr).join('\n');
    for (const { name } of list) expect(asked, name).toContain(name);
  });

  it('can not be made with a label, a value or a rate that a metric does not have', () => {
    const { fires, leaseHeld } = METRICS;
    expect(() => ask({ of: fires, by: ['pod'] })).toThrow('fencepost_fires_total has no label "pod"');
    expect(() => ask({ of: fires, where: { outcome: 'lost' } })).toThrow('has no outcome "lost"');
    expect(() => ask({ of: leaseHeld, over: 'rate', range: '5m' })).toThrow('has no rate');
    expect(() => ask({ of: fires, part: '_bucket' })).toThrow('no histogram');
  });

  it('would be found out otherwise', () => {
    expect(unknownIn('sum by (pod) (fencepost_fires_total{outcome="lost"}) + fencepost_gone')).toEqual([
      ...['the series fencepost_gone', 'by pod', 'outcome="lost"'],
    ]);
    expect(unknownIn('fencepost_fire_delay_seconds')).toEqual(['the series fencepost_fire_delay_seconds']);
  });
});

describe('the alerts', () => {
  const anchors = [...read('docs/operating.md').matchAll(/^##+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );

  it.each(every.map((alert) => [alert.name, alert] as const))(
    '%s says what is wrong, and where it is written what to do',
    (_, alert) => {
      expect(alert.name).toMatch(/^Fencepost[A-Z]\w+$/);
      expect(alert.summary).toMatch(/^\S.*\.$/);
      expect(alert.description).toMatch(/^\S.*\.$/);
      expect(alert.holds).toMatch(/^\d+m$/);
      expect(anchors).toContain(alert.runbook);
      // What a sentence names has to be left over after the sum.
      const named = [...alert.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
      const kept = [...alert.expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inside = '']) => inside.split(', '));
      for (const label of named) expect([...kept, 'instance']).toContain(label);
    },
  );

  it('about one cron say its owner and its runbook', () => {
    const about = every.filter(({ summary }) => summary.includes('$labels.cron '));
    expect(about.length).toBeGreaterThan(3);
    for (const { annotations = {} } of about) {
      expect(
        unknownIn(/printf "(.*)" \$labels/.exec(annotations['owner'] ?? '')?.[1]?.replaceAll('%q', '"a"') ?? '?'),
      ).toEqual([]);
      expect(annotations['owner']).toContain('fencepost_cron_info{cron=%q, deployment=%q}');
      expect(annotations['cron_runbook_url']).toContain('.Labels.runbook_url');
    }
    for (const file of [RULES, RULE_OBJECT]) {
      expect(read(file).match(/^ +owner: /gm)).toHaveLength(about.length);
      expect(read(file).match(/^ +cron_runbook_url: /gm)).toHaveLength(about.length);
    }
  });

  it('wake somebody for each thing a night can bring', () => {
    expect(alerts.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        ...['FencepostNoScheduler', 'FencepostNoWorker', 'FencepostCronWithoutHolder', 'FencepostFiresMissed'],
        ...['FencepostFenceRejections', 'FencepostUncertainRuns', 'FencepostLastSuccessTooOld'],
        ...['FencepostQueueGrowing', 'FencepostClockSkew', 'FencepostStoreTrouble'],
      ]),
    );
    expect(new Set(alerts.map(({ name }) => name)).size).toBe(alerts.length);
  });

  it('point to a page that opens in a browser: the one of the repository, or one of your own', async () => {
    const urls = (text = '') => [...text.matchAll(/runbook_url: ['"]?(\S+?)['"]?$/gm)].map(([, url]) => url);
    const expected = (page: string) => alerts.map(({ runbook }) => `${page}#${runbook}`);
    const { homepage } = JSON.parse(read('package.json')) as { readonly homepage: string };
    const ours = expected(homepage.replace('#readme', '/blob/main/docs/operating.md'));
    for (const file of [RULES, RULE_OBJECT]) expect(urls(read(file))).toEqual(ours);
    const own = 'https://wiki.example.com/fencepost';
    const written = await ownFiles({ METRICS }, { runbook: own });
    for (const file of ['alerts.yml', 'prometheus-rule.yaml']) expect(urls(written[file])).toEqual(expected(own));
  });

  it('watch the servers of a quorum for whoever has one, and for nobody else', async () => {
    const seen = (made: Record<string, string>) =>
      Object.entries(made).flatMap(([file, text]) => (text.includes('fencepost_lease_node_health') ? [file] : []));
    expect(seen(await ownFiles({ METRICS }))).toEqual([]);
    const ownOnes = ['alerts.yml', 'prometheus-rule.yaml', 'fencepost.json'];
    expect(seen(await ownFiles({ METRICS }, { onQuorum: true }))).toEqual(ownOnes);
    expect(
      [RULES, RULE_OBJECT, DASHBOARD].filter((file) => read(file).includes('fencepost_lease_node_health')),
    ).toEqual([]);
  });

  it.runIf(promtool)('are rules that Prometheus takes, where promtool is there to say so', () => {
    const said = execFileSync(promtool ?? '', ['check', 'rules', RULES], {
      cwd: new URL('../..', import.meta.url),
      encoding: 'utf8',
    });
    expect(said).toContain(`SUCCESS: ${alerts.length} rules found`);
  });
});

describe('the dashboard', () => {
  it('has no two panels in one place, and names what each line shows', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    const lines = panels.filter(({ type }) => type === 'timeseries').flatMap(({ targets = [] }) => targets);
    expect(lines.filter(({ legendFormat }) => legendFormat === '')).toEqual([]);
  });
});

describe('npm run ops', () => {
  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, ['scripts/ops.mjs', ...args], {
      cwd: new URL('../..', import.meta.url),
      encoding: 'utf8',
    });

  it('explains its options', () => {
    const { status, stdout } = run(['--help']);
    expect(status).toBe(0);
    for (const option of ['--into <folder>', '--runbook <url>']) expect(stdout).toContain(option);
  });

  it.each([
    [['--runbook', 'https://wiki.example.com'], 'Expected --into <folder> beside --runbook'],
    [['--into', 'x', '--runbook', 'wiki/fencepost'], 'got "wiki/fencepost"'],
    [['--into', 'x', '--runbook', 'https://wiki.example.com#top'], 'without "#"'],
    [['--leases', 'quorum'], 'Expected --into <folder> beside --leases'],
    [['--into', 'x', '--leases', 'etcd'], 'Expected --leases quorum, got "etcd"'],
    [['--folder', 'x'], "Unknown option '--folder'"],
  ])('writes nothing for %j', (args, said) => {
    const { status, stderr } = run(args);
    expect(status).toBe(1);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('is written');
  });

  it('writes the rules into a folder of your own', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    try {
      const { status, stderr } = run([
        '--into',
        join(folder, 'new'),
        '--runbook',
        'https://wiki.example.com/fencepost',
      ]);
      expect(stderr).toContain('prometheus-rule.yaml is written.');
      expect(status).toBe(0);
      const text = readFileSync(join(folder, 'new/alerts.yml'), 'utf8');
      expect(text).toContain('https://wiki.example.com/fencepost#no-pod');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
