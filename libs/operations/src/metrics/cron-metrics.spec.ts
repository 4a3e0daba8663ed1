import { parseFence } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { CRON_METRICS } from './cron-metrics.js';
import { MetricsStage } from './metrics.stage.js';

const run = { cron: 'nightly', runId: 'nightly@1', attempt: 1, fence: parseFence('7') };
const failed = { err: new Error('x'), state: 'failed', retryInMs: null, tookMs: 5 } as const;

function labelsOf(page: Awaited<ReturnType<MetricsStage['page']>>): Set<string> {
  const samples = [...page.values()].flatMap((family) => family.samples);
  return new Set(samples.flatMap(({ labels }) => labels['cron'] ?? []));
}

const unanswered = { store: 'ledger', operation: 'metrics.count-deliveries' };

describe('the metrics of crons', () => {
  it('are all on the page, each with the labels that its list names, and nothing else is', async () => {
    const stage = new MetricsStage();
    stage.hold(stage.declare({ name: 'nightly', expression: '0 2 * * *' }));
    const page = await stage.page();
    expect([...page.keys()].toSorted()).toEqual(
      Object.values(CRON_METRICS)
        .map(({ name }) => name)
        .toSorted(),
    );
    for (const { name, labels, type } of Object.values(CRON_METRICS)) {
      expect(page.get(name)?.type, name).toBe(type);
      for (const sample of page.get(name)?.samples ?? []) {
        expect(
          Object.keys(sample.labels)
            .filter((label) => label !== 'le')
            .toSorted(),
        ).toEqual(Object.keys(labels).toSorted());
      }
    }
  });

  it('count what became of each instant, and how late it was', async () => {
    const stage = new MetricsStage();
    stage.claim('nightly', 40);
    const claimed = { cron: 'nightly', runId: 'nightly@1', fence: parseFence('1'), lateByMs: 7_200_000 };
    stage.telemetry.emit('occurrence.claimed', { ...claimed, reason: 'catch-up' });
    stage.telemetry.emit('occurrence.skipped', { cron: 'nightly', scheduledAt: 1, reason: 'overlap' });
    for (const reason of ['misfire', 'merged', 'paused'] as const) {
      stage.telemetry.emit('occurrence.passed', { cron: 'nightly', after: 1, through: 2, reason });
    }
    const page = await stage.page();
    const fires = page.get('fencepost_fires_total')?.samples.map(({ labels, value }) => [labels['outcome'], value]);
    expect(Object.fromEntries(fires ?? [])).toEqual({
      ...{ claimed: 1, caught_up: 1, skipped_overlap: 1, missed: 1, merged: 1, skipped_paused: 1 },
    });
    // What is made up for after an outage says nothing of how fast a pod is.
    expect(await stage.value('fencepost_fire_delay_seconds_count')).toBe(1);
    expect(await stage.value('fencepost_fire_delay_seconds_sum')).toBe(0.04);
  });

  it('count the runs that an operator ended, and not those that a worker still has to end', async () => {
    const stage = new MetricsStage();
    const about = { cron: 'nightly', runId: 'nightly@1', scheduledAt: 1, attempt: 1, by: 'ada', reason: 'x' };
    stage.telemetry.emit('run.given-up', about);
    for (const verdict of ['cancelled', 'cancelling'] as const) {
      stage.telemetry.emit('run.cancelled', { ...about, verdict });
    }
    const ended = (status: string) => stage.value('fencepost_runs_total', { cron: 'nightly', status });
    expect([await ended('failed'), await ended('cancelled')]).toEqual([1, 1]);
  });

  it('count how runs ended, in seconds, and a retry as no end', async () => {
    const stage = new MetricsStage();
    stage.succeed('nightly', 1_500);
    stage.telemetry.emit('attempt.failed', {
      ...run,
      err: new Error('x'),
      state: 'enqueued',
      retryInMs: 100,
      tookMs: 5,
    });
    stage.telemetry.emit('attempt.failed', { ...run, ...failed });
    stage.telemetry.emit('attempt.cancelled', { ...run, err: new Error('x') });
    stage.telemetry.emit('attempt.uncertain', { ...run, effect: 'charge', item: null, unknownReason: 'lost' });
    for (const status of ['succeeded', 'failed', 'cancelled', 'uncertain']) {
      expect(await stage.value('fencepost_runs_total', { cron: 'nightly', status }), status).toBe(1);
    }
    expect(await stage.value('fencepost_retries_total', { cron: 'nightly' })).toBe(1);
    expect(await stage.value('fencepost_run_duration_seconds_sum', { cron: 'nightly' })).toBe(1.5);
    const now = stage.clock.now();
    expect(await stage.value('fencepost_last_success_timestamp_seconds', { cron: 'nightly' })).toBeLessThanOrEqual(
      now / 1_000,
    );
  });

  it('say when a cron that is held is due next, also when that is past, and how far its instants lie apart', async () => {
    const stage = new MetricsStage();
    const noon = stage.clock.now();
    stage.hold(stage.declare({ name: 'hourly', expression: '0 * * * *' }));
    stage.hold(stage.declare({ name: 'workdays', expression: '0 9 * * 1-5' }), noon);
    stage.hold(stage.declare({ name: 'late', expression: '* * * * *' }), noon - 600_000);
    stage.hold(stage.declare({ name: 'unread', expression: '* * * * *' })).known = false;
    const page = await stage.page();
    const next = (page.get('fencepost_next_fire_timestamp_seconds')?.samples ?? []).map(({ labels, value }) => [
      labels['cron'],
      value - noon / 1_000,
    ]);
    expect(Object.fromEntries(next)).toEqual({ hourly: 3_600, workdays: 21 * 3_600, late: -540 });
    expect(await stage.value('fencepost_fire_interval_seconds', { cron: 'hourly' })).toBe(3_600);
    expect(await stage.value('fencepost_cron_lease_held', { cron: 'unread' })).toBe(1);
    expect(await stage.value('fencepost_definitions', { state: 'active' })).toBe(4);
  });

  it('show how far a scheduler is behind', async () => {
    const stage = new MetricsStage();
    await stage.metrics.begin();
    const shown = async () => [
      await stage.value('fencepost_due_lateness_seconds'),
      await stage.value('fencepost_due_backlog'),
    ];
    stage.behind = { lateMs: 2_500, crons: 40 };
    expect(await shown()).toEqual([2.5, 40]);
    stage.behind = { lateMs: 0, crons: 0 };
    expect(await shown()).toEqual([0, 0]);
  });

  it('take the longer side of the next instant: on a Monday the last success is days old, and nothing is wrong', async () => {
    const stage = new MetricsStage();
    const friday = Date.UTC(2030, 0, 4, 9);
    stage.hold(stage.declare({ name: 'workdays', expression: '0 9 * * 1-5' }), friday);
    expect(await stage.value('fencepost_fire_interval_seconds', { cron: 'workdays' })).toBe(3 * 86_400);
  });

  it('know the last success of a cron whose worker is gone, from the ledger', async () => {
    const stage = new MetricsStage();
    stage.hold(stage.declare({ name: 'nightly' }));
    stage.runs = [
      { cron: 'nightly', state: 'failed', finishedAt: 9_000 },
      { cron: 'nightly', state: 'succeeded', finishedAt: 5_000 },
    ];
    expect(await stage.value('fencepost_last_success_timestamp_seconds', { cron: 'nightly' })).toBe(5);
    stage.succeed('nightly');
    const later = await stage.value('fencepost_last_success_timestamp_seconds', { cron: 'nightly' });
    expect(later).toBeGreaterThan(5);
    stage.runs = [{ cron: 'nightly', state: 'succeeded', finishedAt: 6_000 }];
    expect(await stage.value('fencepost_last_success_timestamp_seconds', { cron: 'nightly' })).toBe(later);
  });

  it('show nothing where a store did not answer, rather than what it said before', async () => {
    const stage = new MetricsStage();
    stage.held = [];
    stage.jobs = async () => ({ waiting: 3 });
    stage.cards = [{ pod: 'pod-1/own', roles: ['scheduler'], clockSkewMs: -250, app: 'shop', revision: null }];
    expect(await stage.value('fencepost_queue_jobs', { state: 'waiting' })).toBe(3);
    expect(await stage.value('fencepost_clock_skew_seconds')).toBe(-0.25);
    expect(await stage.value('fencepost_pods', { role: 'worker' })).toBe(0);
    stage.jobs = () => Promise.reject(new Error('Connection is closed.'));
    stage.cards = [];
    expect(await stage.value('fencepost_queue_jobs', { state: 'waiting' })).toBeUndefined();
    expect(await stage.value('fencepost_clock_skew_seconds')).toBeUndefined();
    expect(await stage.value('fencepost_store_failures_total', unanswered)).toBeGreaterThan(0);
  });

  it('come also while a store never answers', async () => {
    const stage = new MetricsStage();
    stage.held = [];
    stage.jobs = () => new Promise(() => {});
    const page = stage.registry.metrics();
    await stage.clock.advance(2_000);
    expect(await page).toContain('fencepost_pods{role="worker"} 0');
    stage.jobs = async () => ({});
    expect(await stage.value('fencepost_store_failures_total', unanswered)).toBe(1);
  });
});

describe('the labels of 10,000 crons', () => {
  const many = (stage: MetricsStage, count = 10_000) => {
    stage.entries = Array.from({ length: count }, (_, n) => {
      const entry = stage.declare({ name: `cron-${n}`, expression: n < 150 ? '0 2 * * *' : '* * * * *' });
      stage.entries = [];
      return entry;
    });
    for (const entry of stage.entries) stage.hold(entry);
  };

  it('are 200 and other by default, the rarest crons first, and the sums are still those of all', async () => {
    const stage = new MetricsStage();
    many(stage);
    stage.uncertain = [{ cron: 'cron-9' }, { cron: 'cron-9999' }];
    await stage.metrics.begin();
    for (const { definition } of stage.entries) {
      stage.claim(definition.name);
      stage.succeed(definition.name);
    }
    const page = await stage.page();
    const labels = labelsOf(page);
    expect(labels.size).toBe(201);
    for (let n = 0; n < 150; n += 1) expect(labels).toContain(`cron-${n}`);
    const sum = (name: string) => page.get(name)?.samples.reduce((total, { value }) => total + value, 0);
    expect([sum('fencepost_fires_total'), sum('fencepost_runs_total'), sum('fencepost_cron_lease_held')]).toEqual([
      10_000, 10_000, 10_000,
    ]);
    expect(await stage.value('fencepost_other_crons')).toBe(9_800);
    const samples = [...page.values()].reduce((total, family) => total + family.samples.length, 0);
    expect(samples).toBeLessThan(201 * 36);
  });

  it.each([
    ['none', 1],
    ['all', 1_000],
    [3, 4],
  ] as const)('are as many as were asked for: %s', async (told, expected) => {
    const stage = new MetricsStage(told);
    many(stage, 1_000);
    await stage.metrics.begin();
    for (const { definition } of stage.entries) stage.succeed(definition.name);
    expect(labelsOf(await stage.page()).size).toBe(expected);
  });

  it('name the tags of the crons that are told apart, as the catalog has them now', async () => {
    const stage = new MetricsStage(2);
    stage.held = [];
    const tagged = (name: string, ...tags: string[]) => stage.declare({ name, ...(tags.length > 0 && { tags }) });
    const [a] = [tagged('a', 'billing', 'eu'), tagged('b'), tagged('c', 'billing')];
    const shown = async () => {
      await stage.clock.advance(2_000);
      const samples = (await stage.page()).get('fencepost_cron_tags_info')?.samples ?? [];
      return samples.map(({ labels, value }) => [labels['cron'], labels['tag'], value]);
    };
    expect(await shown()).toEqual([
      ['a', 'billing', 1],
      ['a', 'eu', 1],
    ]);
    stage.entries = [{ ...a, definition: { ...a.definition, tags: ['us'] } }, ...stage.entries.slice(1)];
    expect(await shown()).toEqual([['a', 'us', 1]]);
    stage.entries = stage.entries.map((entry) => ({ ...entry, state: 'removed' }));
    expect(await shown()).toEqual([]);
  });

  it('name owner and runbook of the crons that are told apart and have one, as the catalog has them now', async () => {
    const stage = new MetricsStage(2);
    stage.held = [];
    const a = stage.declare({ name: 'a', owner: 'Ada', runbookUrl: 'https://wiki.example/a' });
    for (const more of [{ name: 'b' }, { name: 'c', owner: 'Bob' }]) stage.declare(more);
    const shown = async () => {
      await stage.clock.advance(2_000);
      return ((await stage.page()).get('fencepost_cron_info')?.samples ?? []).map(({ labels }) => labels);
    };
    expect(await shown()).toEqual([{ cron: 'a', owner: 'Ada', runbook_url: 'https://wiki.example/a' }]);
    stage.entries = [{ ...a, definition: { ...a.definition, owner: 'Eve' } }, ...stage.entries.slice(1)];
    expect(await shown()).toMatchObject([{ owner: 'Eve' }]);
  });

  it('are the same in every pod, whatever each has seen first', async () => {
    const seen = ['c', 'a', 'b'].map(async (first) => {
      const stage = new MetricsStage(2);
      for (const name of ['a', 'b', 'c']) stage.declare({ name });
      stage.succeed(first);
      for (const name of ['a', 'b', 'c']) stage.succeed(name);
      await stage.metrics.begin();
      for (const name of ['a', 'b', 'c']) stage.succeed(name);
      return [...labelsOf(await stage.page())].toSorted();
    });
    expect(await Promise.all(seen)).toEqual([
      ['a', 'b', 'other'],
      ['a', 'b', 'other'],
      ['a', 'b', 'other'],
    ]);
  });
});

describe('the series of a pod', () => {
  it('are there from the first scrape, at 0, so that its first failure is an increase', async () => {
    const stage = new MetricsStage();
    stage.declare({ name: 'report' });
    await stage.metrics.begin();
    const failures = () => stage.value('fencepost_runs_total', { cron: 'report', status: 'failed' });
    expect(await failures()).toBe(0);
    expect(await stage.value('fencepost_program_errors_total')).toBe(0);
    stage.telemetry.emit('attempt.failed', { ...run, cron: 'report', ...failed });
    expect(await failures()).toBe(1);
  });

  it('are bounded by the crons that are told apart', async () => {
    const stage = new MetricsStage(1);
    for (const name of ['a', 'b', 'c']) stage.declare({ name });
    const runs = (await stage.page()).get('fencepost_runs_total');
    expect(new Set(runs?.samples.map(({ labels }) => labels['cron']))).toEqual(new Set(['a', 'other']));
  });

  it('say since when a success is awaited of a cron that never succeeded, and nothing while it is paused', async () => {
    const stage = new MetricsStage();
    const entry = stage.declare({ name: 'report' });
    stage.hold(entry);
    const awaited = () => stage.value('fencepost_success_awaited_since_timestamp_seconds', { cron: 'report' });
    expect(await awaited()).toBe(entry.since / 1_000);
    stage.paused.add('report');
    expect(await awaited()).toBeUndefined();
    stage.paused.clear();
    const through = entry.since + 3_600_000;
    stage.skips = [{ after: entry.since, through, reason: 'paused' }];
    expect(await awaited()).toBe(through / 1_000);
  });
});
