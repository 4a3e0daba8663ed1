import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '@fencepost/operations/metrics';
import { ensureProgram } from '../../scripts/debian.mjs';
import { ownFiles } from '../../scripts/ops/files.mjs';

const LAST = 'fencepost_success_awaited_since_timestamp_seconds{cron="a"}';
const EVERY = 'fencepost_fire_interval_seconds{cron="a"}';
const FAILED = 'fencepost_runs_total{cron="a", status="failed"}';

/** Recorded series, one value a minute, as `promtool` reads them. */
type Series = Readonly<Record<string, string>>;

const BUCKETS = 'fencepost_fire_delay_seconds_bucket';

/** Of each alert: at which minute, series with which it rings, and series with which it doesn't. */
const RECORDED: Readonly<Record<string, readonly [minute: number, rings: Series, quiet: Series]>> = {
  FencepostNoScheduler: [5, { 'fencepost_pods{role="worker"}': '2x9' }, { 'fencepost_pods{role="scheduler"}': '1x9' }],
  FencepostNoWorker: [5, { 'fencepost_pods{role="worker"}': '0x9' }, { 'fencepost_pods{role="worker"}': '1x9' }],
  FencepostCronWithoutHolder: [
    5,
    { 'fencepost_definitions{state="active"}': '3x9', 'fencepost_cron_lease_held{cron="a"}': '2x9' },
    { 'fencepost_definitions{state="active"}': '3x9', 'fencepost_cron_lease_held{cron="a"}': '3x9' },
  ],
  FencepostFireOverdue: [
    5,
    { 'fencepost_next_fire_timestamp_seconds{cron="a"}': '0x9' },
    { 'fencepost_next_fire_timestamp_seconds{cron="a"}': '600x9' },
  ],
  FencepostFiresMissed: [
    9,
    { 'fencepost_fires_total{cron="a", outcome="missed"}': '0x4 1x9' },
    {
      'fencepost_fires_total{cron="a", outcome="missed"}': '1x19',
      'fencepost_fires_total{cron="a", outcome="claimed"}': '0+1x19',
    },
  ],
  FencepostFiresLate: [
    29,
    { [`${BUCKETS}{le="5"}`]: '0x40', [`${BUCKETS}{le="10"}`]: '0+9x40', [`${BUCKETS}{le="+Inf"}`]: '0+9x40' },
    { [`${BUCKETS}{le="5"}`]: '0+9x40', [`${BUCKETS}{le="10"}`]: '0+9x40', [`${BUCKETS}{le="+Inf"}`]: '0+9x40' },
  ],
  FencepostLastSuccessTooOld: [20, { [LAST]: '0x30', [EVERY]: '60x30' }, { [LAST]: '0+60x30', [EVERY]: '60x30' }],
  FencepostFenceRejections: [
    15,
    { 'fencepost_fence_rejections_total{cron="a", at="claim"}': '0+1x20' },
    { 'fencepost_fence_rejections_total{cron="a", at="claim"}': '9x20' },
  ],
  FencepostDownstreamRejections: [
    15,
    { 'fencepost_lease_fencing_rejected_total{downstream="db"}': '0+1x20' },
    { 'fencepost_lease_fencing_rejected_total{downstream="db"}': '9x20' },
  ],
  FencepostLeasesLost: [
    15,
    { 'fencepost_cron_lease_transitions_total{transition="lost"}': '0+1x20' },
    { 'fencepost_cron_lease_transitions_total{transition="released"}': '0+1x20' },
  ],
  FencepostLeasesUnreleased: [
    15,
    { 'fencepost_lease_expired_without_release_total{resource_type="r"}': '0+1x20' },
    { 'fencepost_lease_expired_without_release_total{resource_type="r"}': '9x20' },
  ],
  FencepostLeaseHeldOverBudget: [
    15,
    { 'fencepost_lease_lost_total{resource_type="r", reason="max-hold"}': '0x9 1x20' },
    { 'fencepost_lease_held_over_budget{resource_type="r"}': '0x20' },
  ],
  FencepostLeaseAcquireErrors: [
    15,
    { 'fencepost_lease_acquire_total{resource_type="r", outcome="error"}': '0+1x20' },
    { 'fencepost_lease_acquire_total{resource_type="r", outcome="busy"}': '0+9x20' },
  ],
  FencepostUncertainRuns: [
    9,
    { 'fencepost_uncertain_runs{cron="a"}': '1x9' },
    { 'fencepost_uncertain_runs{cron="a"}': '0x9' },
  ],
  FencepostRunsFailing: [
    5,
    { [FAILED]: '0x2 1x9' },
    {
      [FAILED]: '0x9',
      'fencepost_runs_total{cron="a", status="succeeded"}': '0+1x9',
      'fencepost_consecutive_failures{cron="a"}': '0x9',
    },
  ],
  FencepostQueueGrowing: [
    30,
    { 'fencepost_queue_jobs{state="waiting"}': '0+20x40' },
    { 'fencepost_queue_jobs{state="waiting"}': '400-2x40' },
  ],
  FencepostStoreTrouble: [
    9,
    { 'fencepost_store_failures_total{store="store"}': '0+9x20' },
    { 'fencepost_store_failures_total{store="store"}': '9x20' },
  ],
  FencepostProgramError: [
    5,
    { 'fencepost_program_errors_total{instance="p"}': '0x3 1x9' },
    {
      'fencepost_program_errors_total{instance="p"}': '1x19',
      'fencepost_store_failures_total{store="store"}': '0+1x19',
    },
  ],
  FencepostJournalDropping: [
    35,
    { fencepost_journal_dropped_total: '0+1x40' },
    { fencepost_journal_dropped_total: '9x40' },
  ],
  FencepostClockSkew: [
    9,
    { 'fencepost_clock_skew_seconds{instance="p"}': '-1x19' },
    { 'fencepost_clock_skew_seconds{instance="p"}': '0.1x19' },
  ],
  FencepostNodeLeftOut: [
    9,
    { 'fencepost_lease_node_health{node="n"}': '0x9' },
    { 'fencepost_lease_node_health{node="n"}': '1x9' },
  ],
};

let folder: string;
/** Those of the repository, and what a quorum needs beside them. */
let rules: string;
let promtool: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  rules = join(folder, 'alerts.yml');
  await writeFile(rules, (await ownFiles({ METRICS }, { onQuorum: true }))['alerts.yml'] ?? '');
  promtool = (await ensureProgram('promtool', { package: 'prometheus', service: 'prometheus' })).command;
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Whether the rule fires at the minute, as Prometheus itself says. */
async function judged(alert: string, fires: boolean, { minute, series }: { minute: number; series: Series }) {
  const tests = {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
            eval_time: `${minute}m`,
            exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
          },
        ],
      },
    ],
  };
  const file = join(folder, `${alert}-${fires}.yml`);
  await writeFile(file, JSON.stringify(tests));
  const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', file]);
  return stdout;
}

describe('each alert', () => {
  it('has recorded series', async () => {
    const names = [...(await readFile(rules, 'utf8')).matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    expect(Object.keys(RECORDED).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
      names.map(String).toSorted((a, b) => (a < b ? -1 : 1)),
    );
  });

  it.each(Object.entries(RECORDED))('%s rings with the one and not with the other', async (alert, recorded) => {
    const [minute, rings, quiet] = recorded;
    expect(await judged(alert, true, { minute, series: rings })).toContain('SUCCESS');
    expect(await judged(alert, false, { minute, series: quiet })).toContain('SUCCESS');
  });

  it('of leases over their budget rings while one is still held', async () => {
    const series = { 'fencepost_lease_held_over_budget{resource_type="r"}': '0x3 1x20' };
    expect(await judged('FencepostLeaseHeldOverBudget', true, { minute: 9, series })).toContain('SUCCESS');
    const late = { 'fencepost_lease_lost_total{resource_type="r", reason="expired"}': '0+1x20' };
    expect(await judged('FencepostLeaseHeldOverBudget', false, { minute: 9, series: late })).toContain('SUCCESS');
  });

  it('of failing runs rings for a run whose worker died: no process has counted it', async () => {
    const series = { [FAILED]: '0x9', 'fencepost_consecutive_failures{cron="a"}': '0x3 1x9' };
    expect(await judged('FencepostRunsFailing', true, { minute: 5, series })).toContain('SUCCESS');
  });
});
