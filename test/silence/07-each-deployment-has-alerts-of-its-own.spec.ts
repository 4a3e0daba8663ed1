import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { METRICS } from '@fencepost/operations/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureProgram } from '../../scripts/debian.mjs';
import { alertList, quorumAlerts } from '../../scripts/ops/alert-list.mjs';
import { readMetrics } from '../support/prometheus-text.js';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';
import { minutesIn, testRules } from '../truth/alert-recording.js';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const RULES = join(import.meta.dirname, '../../ops/prometheus/alerts.yml');

let folder: string;
let promtool: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deployments-'));
  promtool = (await ensureProgram('promtool', { package: 'prometheus', service: 'prometheus' })).command;
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

type Shows = Readonly<Record<string, string>>;

/** At which of the minutes an alert rings for a deployment, while staging and production show this. */
async function ringsAt(
  alert: string,
  deployment: string,
  { production, staging }: Record<'production' | 'staging', Shows>,
) {
  const series = (of: string, shown: Shows) =>
    Object.entries(shown).map(([name, values]) => {
      const [bare = '', labels = ''] = name.replace('}', '').split('{');
      return { series: `${bare}{deployment="${of}",instance="${of}-1"${labels === '' ? '' : `,${labels}`}}`, values };
    });
  const input = [...series('production', production), ...series('staging', staging)];
  const expr = `count(ALERTS{alertname="${alert}", alertstate="firing", deployment="${deployment}"})`;
  const minutes = Array.from({ length: 40 }, (_, minute) => minute);
  const tests = minutes.map((minute) => ({ expr, eval_time: `${minute}m`, exp_samples: [] }));
  const said = await testRules(
    { promtool, rules: RULES, file: join(folder, `${alert}-${deployment}.yml`) },
    { input_series: input, promql_expr_test: tests },
  );
  return minutesIn(said);
}

const pods = (schedulers: string, workers = '1x40'): Shows => ({
  'fencepost_pods{role="scheduler"}': schedulers,
  'fencepost_pods{role="worker"}': workers,
  fencepost_program_errors_total: '0x40',
});

describe('two deployments in one Prometheus', () => {
  it('ring for production without a scheduler, while staging has one', async () => {
    const seen = { production: pods('0x40'), staging: pods('1x40') };
    expect((await ringsAt('FencepostNoScheduler', 'production', seen)).length).toBeGreaterThan(30);
    expect(await ringsAt('FencepostNoScheduler', 'staging', seen)).toEqual([]);
  });

  it('ring for production that is gone as a whole', async () => {
    const gone = Object.fromEntries(Object.keys(pods('')).map((name) => [name, '1x9 _x30']));
    const seen = { production: gone, staging: pods('1x40') };
    const minutes = await ringsAt('FencepostNoScheduler', 'production', seen);
    expect([minutes.length > 10, minutes.every((minute) => minute > 9)]).toEqual([true, true]);
    expect((await ringsAt('FencepostNoWorker', 'production', seen)).length).toBeGreaterThan(10);
    expect(await ringsAt('FencepostNoScheduler', 'staging', seen)).toEqual([]);
  });

  it('ring for crons without a holder in production, while staging holds as many too many', async () => {
    const crons = { 'fencepost_definitions{state="active"}': '3x40' };
    const seen = { production: crons, staging: { ...crons, 'fencepost_cron_lease_held{cron="a"}': '9x40' } };
    expect((await ringsAt('FencepostCronWithoutHolder', 'production', seen)).length).toBeGreaterThan(30);
    expect(await ringsAt('FencepostCronWithoutHolder', 'staging', seen)).toEqual([]);
  });

  it('say which one has the overdue cron, where both have one of the name', async () => {
    const next = 'fencepost_next_fire_timestamp_seconds{cron="nightly"}';
    const seen = { production: { [next]: '0x40' }, staging: { [next]: '100000x40' } };
    expect((await ringsAt('FencepostFireOverdue', 'production', seen)).length).toBeGreaterThan(30);
    expect(await ringsAt('FencepostFireOverdue', 'staging', seen)).toEqual([]);
  });
});

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

describe('what is generated', () => {
  const { panels } = JSON.parse(read('ops/grafana/fencepost.json')) as { readonly panels: readonly Panel[] };
  const expressions = [
    ...[...alertList(METRICS), ...quorumAlerts(METRICS)].map(({ name, expr }) => [name, expr] as const),
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
    ...[...read('docs/metrics.md').matchAll(/```promql\n([^`]*)```/g)].map(([, expr = '']) => ['docs', expr] as const),
  ];

  let running: RunningApp;
  let scraped: ReturnType<typeof readMetrics>;
  beforeAll(async () => {
    running = await startSchedulerApp();
    scraped = readMetrics(await (await running.ask('/metrics')).text());
  });
  afterAll(() => running.close());

  it.each(expressions)('%s is of each deployment by itself: %s', (_, expr) => {
    const groups = [...expr.matchAll(/\b(?:sum|max|min|count|avg|topk)\b(?:\([^)]|[^(]*\(([^)]*)\))/g)];
    expect(groups.length + Number(!/\b(sum|max|min|count) /.test(expr))).toBeGreaterThan(0);
    for (const [whole, labels = ''] of groups) expect(labels.split(', '), whole).toContain('deployment');
    for (const [, labels = ''] of expr.matchAll(/\bon \(([^)]*)\)/g)) {
      expect(labels === 'instance' || labels.split(', ').includes('deployment'), labels).toBe(true);
    }
  });

  it.each(expressions)('%s names only what a pod really shows: %s', (name, expr) => {
    // Of a quorum alone.
    const names = [...expr.matchAll(/\b((?:fencepost|cron|redis)_[a-z_]+)\b(?!\s*[=~]|")/g)].map(([, one = '']) => one);
    const known = names.filter((one) => one !== METRICS.nodeHealth.name && !/^cron_runbook|^cron_info$/.test(one));
    for (const one of known) expect([name, scraped.has(one.replace(/_(bucket|sum|count)$/, ''))]).toEqual([name, true]);
  });

  it('has the deployment on each series of ours, and on none of the process', () => {
    const samples = [...scraped.values()].flatMap((family) => family.samples);
    const ours = samples.filter(({ name }) => /^(fencepost|redis)_/.test(name));
    expect(ours.length).toBeGreaterThan(30);
    const own = `${running.prefix}:default`;
    expect(ours.filter(({ labels }) => labels['deployment'] !== own)).toEqual([]);
    const others = samples.filter(({ name }) => /^(process|nodejs)_/.test(name));
    expect(others.filter(({ labels }) => 'deployment' in labels)).toEqual([]);
  });
});
