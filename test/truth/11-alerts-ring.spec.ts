import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '@fencepost/operations/metrics';
import { ensureProgram } from '../../scripts/debian.mjs';
import { ownFiles } from '../../scripts/ops/files.mjs';
import { Deployment } from '../support/deployment.js';
import { usePodsOfFile } from '../support/pods.js';
import { testRedis } from '../support/redis.js';
import { minutesIn, recordPods, testRules, type Moment, type Page, type Recording } from './alert-recording.js';
import { FAILED, RECORDED, well, type Seen } from './recorded-alerts.js';

/** Recorded pages go on unchanged for so many minutes. */
const MINUTES = 45;

const deployment = new Deployment(usePodsOfFile(), testRedis);
let folder: string;
/** Those of the repository, and what a quorum needs beside them. */
let rules: string;
let expressions: ReadonlyMap<string, string>;
let promtool: string;
let recording: Recording;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  rules = join(folder, 'alerts.yml');
  await writeFile(rules, (await ownFiles({ METRICS }, { onQuorum: true }))['alerts.yml'] ?? '');
  const found = (await readFile(rules, 'utf8')).matchAll(/- alert: (\w+)\n\s+expr: (.*)$/gm);
  expressions = new Map([...found].map(([, name = '', expr = '']) => [name, expr]));
  promtool = (await ensureProgram('promtool', { package: 'prometheus', service: 'prometheus' })).command;
  await deployment.open({});
  recording = await recordPods(deployment);
}, 120_000);
afterAll(async () => {
  await deployment.close();
  await rm(folder, { recursive: true, force: true });
});

interface Series {
  readonly series: string;
  readonly values: string;
}

/** Without what all series of a recording share. */
function bareOf(series: string): string {
  return series
    .replaceAll(/(deployment|instance)="[^"]*",?/g, '')
    .replace(',}', '}')
    .replace('{}', '');
}

/** The series of a page that the expression asks for, as they go on. */
function seriesOf({ instance, at, samples }: Page, expr: string, { changes = {}, goesOn = false }: Seen): Series[] {
  const asked = samples.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(expr));
  return asked.map(({ name, labels, value }) => {
    const inside = Object.entries(labels)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([label, text]) => `${label}="${text}"`);
    const bare = bareOf(`${name}{${inside.join(',')}}`);
    const isInstant = name.endsWith('_timestamp_seconds');
    const moved = isInstant || name === 'process_start_time_seconds' ? value - at : value;
    const step = isInstant && goesOn ? '+60' : '+0';
    const values = changes[bare] ?? `${moved}${step}x${MINUTES}`;
    return { series: `${name}{${[...inside, `instance="${instance}"`].join(',')}}`, values };
  });
}

function inputOf(alert: string, seen: Seen): Series[] {
  const expr = expressions.get(alert) ?? '';
  const pages = recording[seen.page];
  const recorded = pages.flatMap((page) => seriesOf(page, expr, seen));
  const known = recorded.map(({ series }) => series);
  for (const change of Object.keys(seen.changes ?? {})) {
    if (!known.some((series) => bareOf(series) === change))
      throw new Error(`Expected pods to show ${change} from the first scrape on.`);
  }
  const samples = pages.flatMap((page) => page.samples);
  const whose = samples.find(({ labels }) => labels['deployment'])?.labels['deployment'] ?? '';
  const added = Object.entries(seen.added ?? {}).map(([series, values]) => ({
    series: series.replace('{', `{deployment="${whose}",`),
    values,
  }));
  return [...recorded, ...added];
}

/** At which minutes the alert rings, as Prometheus itself says. @param label a matcher of its labels, with a comma in front */
async function ringsAt(alert: string, seen: Seen, label = ''): Promise<number[]> {
  const minutes = Array.from({ length: MINUTES }, (_, minute) => minute);
  const expr = `count(ALERTS{alertname="${alert}", alertstate="firing"${label}})`;
  // It expects silence at each minute, and names the minutes at which it found something else.
  const text = await saidOf(alert, seen, {
    promql_expr_test: minutes.map((minute) => ({ expr, eval_time: `${minute}m`, exp_samples: [] })),
  });
  return minutesIn(text);
}

function saidOf(alert: string, seen: Seen, test: object): Promise<string> {
  const series = { input_series: inputOf(alert, seen) };
  return testRules({ promtool, rules, file: join(folder, `${alert}.yml`) }, { ...series, ...test });
}

const cases = (of: 'rings' | 'quiet') =>
  Object.entries(RECORDED).flatMap(([alert, recorded]) =>
    Object.entries(recorded[of]).map(([what, seen]) => [alert, what, seen] as const),
  );

describe('each alert', () => {
  it('has series with which it rings, and series with which it does not', () => {
    expect(Object.keys(RECORDED).toSorted()).toEqual([...expressions.keys()].toSorted());
    for (const [alert, { rings, quiet }] of Object.entries(RECORDED)) {
      expect([Object.keys(rings).length > 0, Object.keys(quiet).length > 0], alert).toEqual([true, true]);
    }
  });

  it.each(cases('rings'))('%s rings for: %s', async (alert, _, seen) => {
    expect(await ringsAt(alert, seen)).not.toEqual([]);
  });

  it.each(cases('quiet'))('%s is quiet for: %s', async (alert, _, seen) => {
    expect((await ringsAt(alert, seen)).filter((minute) => minute >= (seen.from ?? 0))).toEqual([]);
  });
});

describe('an alert about a cron', () => {
  it('has the tags of the cron in order, and still when no pod shows them any more', async () => {
    const tag = (name: string) => `fencepost_cron_tags_info{cron="failing",tag="${name}"}`;
    const seen: Seen = { ...well({ [FAILED]: '0x9 1x40' }), added: { [tag('eu')]: '1x9', [tag('billing')]: '1x9' } };
    const rung = await ringsAt('FencepostRunsFailing', seen);
    expect(rung).not.toEqual([]);
    expect(await ringsAt('FencepostRunsFailing', seen, ', tags=~".*,billing,.*"')).toEqual(rung);
    expect(await ringsAt('FencepostRunsFailing', seen, ', tags=",billing,eu,"')).toEqual(rung);
    expect(await ringsAt('FencepostRunsFailing', { ...seen, added: {} }, ', tags=","')).toEqual(rung);
  });

  it('says its owner and its runbook as they were last, and still when no pod shows them any more', async () => {
    const info = (owner: string) =>
      `fencepost_cron_info{cron="failing",owner="${owner}",runbook_url="https://${owner}.example"}`;
    const added = { [info('old')]: '1x3', [info('new')]: '_x3 1x5' };
    const test = [{ eval_time: '30m', alertname: 'FencepostRunsFailing', exp_alerts: [] }];
    const seen: Seen = { ...well({ [FAILED]: '0x9 1x40' }), added };
    const told = await saidOf('FencepostRunsFailing', seen, { alert_rule_test: test });
    expect(told).toMatch(/Annotations:{cron_runbook_url="https:\/\/new\.example", .*, owner="new",/);
  });
});

describe('the pods', () => {
  const values = (moment: Moment, name: string) =>
    recording[moment].flatMap(({ samples }) => samples).filter((sample) => sample.name === name);

  it('show every cron and outcome at 0 from the first scrape on', () => {
    for (const { name, labels } of Object.values(METRICS)) {
      if (name !== 'fencepost_runs_total' && name !== 'fencepost_fires_total') continue;
      const [[, outcomes] = []] = Object.entries(labels).filter(([label]) => label !== 'cron');
      const shown = values('well', name).filter(({ labels: { cron } }) => cron === 'failing');
      expect(new Set(shown.map(({ labels: has }) => has['status'] ?? has['outcome']))).toEqual(new Set(outcomes));
      expect(shown.every(({ value }) => value === 0)).toBe(true);
    }
  });

  it('await no success of a cron that is paused', () => {
    const awaited = (moment: Moment) => values(moment, METRICS.successAwaited.name).map(({ labels: { cron } }) => cron);
    expect(awaited('well')).toContain('kept-paused');
    expect(awaited('paused')).not.toContain('kept-paused');
  });
});
