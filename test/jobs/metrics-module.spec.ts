import { execFileSync } from 'node:child_process';
import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { EffectUnknownError, JobsModule, SingletonCron, type Role, type RunContext } from '@fencepost/jobs';
import { OperationsModule, CronOperator } from '@fencepost/operations';
import { JobsMetrics, MetricsModule } from '@fencepost/operations/metrics';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { afterEach, describe, expect, it } from 'vitest';
import { promtool, readMetrics, valueOf } from '../support/prometheus-text.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Injectable()
class Work {
  @SingletonCron('* * * * * *', { name: 'tick', overlap: 'allow' })
  async tick(run: RunContext): Promise<void> {
    await run.effect('write', () => 'written');
  }

  @SingletonCron('0 2 29 2 *', { name: 'charge', retry: { attempts: 1 } })
  async charge(run: RunContext): Promise<void> {
    const { how } = run.payload as { how: string };
    if (how === 'fail') throw new Error('declined');
    await run.effect('charge', () => Promise.reject(new EffectUnknownError('no answer')), { ifUnknown: 'ask' });
  }
}

async function start(roles: readonly Role[], space: { prefix: string; tenant: string }) {
  const jobs = JobsModule.forRoot({ roles, redis: testRedis(), ...space, drainDeadline: '2s' });
  const providers = roles.includes('worker') ? [Work] : [];
  const built = await Test.createTestingModule({
    imports: [jobs, OperationsModule.on(jobs), MetricsModule.on(jobs)],
    providers,
  }).compile();
  apps.push(built);
  await built.init();
  return {
    app: built,
    text: () => built.get(JobsMetrics).registry.metrics(),
    page: async () => readMetrics(await built.get(JobsMetrics).registry.metrics()),
  };
}

describe('the metrics of a pod', () => {
  it('say what its crons did, after runs that were real', async () => {
    const space = spaces.fresh();
    const scheduler = await start(['scheduler'], space);
    const worker = await start(['worker'], space);
    await expect
      .poll(
        async () => valueOf(await worker.page(), 'fencepost_runs_total', { cron: 'tick', status: 'succeeded' }) ?? 0,
        {
          timeout: 15_000,
        },
      )
      .toBeGreaterThanOrEqual(2);
    await worker.app.get(CronOperator).trigger('charge', { by: 'otto', payload: { how: 'fail' } });
    await expect
      .poll(async () => valueOf(await worker.page(), 'fencepost_runs_total', { cron: 'charge', status: 'failed' }), {
        timeout: 10_000,
      })
      .toBe(1);
    await worker.app.get(CronOperator).trigger('charge', { by: 'otto', payload: { how: 'ask' } });
    await expect
      .poll(async () => valueOf(await scheduler.page(), 'fencepost_uncertain_runs', { cron: 'charge' }), {
        timeout: 10_000,
      })
      .toBe(1);
    const [fires, runs] = [await scheduler.page(), await worker.page()];
    const now = Date.now() / 1_000;
    const claimed = valueOf(fires, 'fencepost_fires_total', { cron: 'tick', outcome: 'claimed' }) ?? 0;
    expect(claimed).toBeGreaterThanOrEqual(2);
    expect(valueOf(fires, 'fencepost_fire_delay_seconds_count')).toBe(claimed);
    expect(valueOf(fires, 'fencepost_cron_lease_held', { cron: 'tick' })).toBe(1);
    expect(valueOf(fires, 'fencepost_cron_lease_transitions_total', { transition: 'acquired' })).toBe(2);
    expect(valueOf(fires, 'fencepost_definitions', { state: 'active' })).toBe(2);
    expect(valueOf(fires, 'fencepost_fire_interval_seconds', { cron: 'tick' })).toBe(1);
    expect(
      Math.abs((valueOf(fires, 'fencepost_next_fire_timestamp_seconds', { cron: 'tick' }) ?? 0) - now),
    ).toBeLessThan(10);
    expect(valueOf(fires, 'fencepost_uncertain_runs', { cron: 'tick' })).toBe(0);
    expect(valueOf(fires, 'fencepost_queue_jobs', { state: 'completed' })).toBeGreaterThanOrEqual(2);
    expect(valueOf(runs, 'fencepost_effects_total', { outcome: 'done' })).toBeGreaterThanOrEqual(2);
    const succeeded = valueOf(runs, 'fencepost_last_success_timestamp_seconds', { cron: 'tick' }) ?? 0;
    expect(now - succeeded).toBeLessThan(10);
    // The leases of its crons too, under a type of their own.
    const asked = { resource_type: 'cron', outcome: 'acquired' };
    expect(valueOf(fires, 'fencepost_lease_acquire_total', asked)).toBe(2);
    expect(valueOf(runs, 'fencepost_pods', { role: 'scheduler' })).toBe(1);
    expect(valueOf(fires, 'fencepost_clock_skew_seconds')).toBeCloseTo(0, 0);
  });

  it('hold nothing of a holder or of what a run was given', async () => {
    const pod = await start(['scheduler', 'worker'], spaces.fresh());
    await pod.app.get(CronOperator).trigger('charge', { by: 'otto', payload: { how: 'fail', card: '4242424242' } });
    await expect
      .poll(async () => valueOf(await pod.page(), 'fencepost_runs_total', { cron: 'charge', status: 'failed' }), {
        timeout: 10_000,
      })
      .toBe(1);
    const text = await pod.text();
    const { holder } = pod.app.get(LeaseKeeper);
    for (const secret of ['4242424242', 'otto', 'declined', holder.slice(holder.lastIndexOf('/'))]) {
      expect(text).not.toContain(secret);
    }
  });

  it.runIf(promtool)('are found to be well made by promtool, where it is there', async () => {
    const pod = await start(['scheduler', 'worker'], spaces.fresh());
    const input = await pod.text();
    let said = '';
    try {
      execFileSync(promtool ?? '', ['check', 'metrics'], { input, stdio: 'pipe', encoding: 'utf8' });
    } catch (error) {
      said = String((error as { stderr?: string }).stderr);
    }
    // Two of row 18 are in milliseconds.
    const objections = said
      .split('\n')
      .filter((line) => line !== '' && !/^redis_lease_\w+_ms .*(base unit|abbreviated)/.test(line));
    expect(objections).toEqual([]);
  });
});
