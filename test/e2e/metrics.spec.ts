import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import type { Pod } from '../support/pod.js';
import { readMetrics, valueOf, promtool } from '../support/prometheus-text.js';

const deployment = useDeployment();

async function textOf(pod: Pod): Promise<string> {
  const response = await fetch(`${pod.url}/metrics`);
  expect(response.headers.get('content-type')).toContain('version=0.0.4');
  return response.text();
}

/** What promtool has against a page. Two of our leases' metrics have been in milliseconds from the beginning. */
function objections(input: string): string[] {
  try {
    execFileSync(promtool ?? 'true', ['check', 'metrics'], { input, stdio: 'pipe', encoding: 'utf8' });
    return [];
  } catch (error) {
    const said = String(Reflect.get(Object(error), 'stderr')).split('\n');
    return said.filter(
      (line) => /^(fencepost|redis|error)/.test(line) && !/^redis_lease_\w+_ms .*(base unit|abbreviated)/.test(line),
    );
  }
}

it('the pages of pods say what their runs did, the same as the ledger (and promtool, where it is there, objects to nothing)', async () => {
  const { pods } = deployment;
  const [worker, scheduler] = await Promise.all([
    pods.worker('worker', { env: { CRONS: 'steps' } }),
    pods.scheduler('scheduler'),
  ]);
  await deployment.fireOnce('steps');
  const run = await deployment.onlyRunOf('steps');
  await worker.waitFor('attempt_succeeded');
  const texts = await Promise.all([textOf(scheduler), textOf(worker)]);
  const [fires, runs] = [readMetrics(texts[0]), readMetrics(texts[1])];
  const steps = { cron: 'steps' };
  expect(valueOf(fires, 'fencepost_fires_total', { ...steps, outcome: 'claimed' })).toBe(1);
  expect(valueOf(fires, 'fencepost_fire_delay_seconds_count')).toBe(1);
  expect(valueOf(fires, 'fencepost_cron_lease_held', steps)).toBe(1);
  expect(valueOf(fires, 'fencepost_pods', { role: 'worker' })).toBe(1);
  expect(valueOf(runs, 'fencepost_runs_total', { ...steps, status: 'succeeded' })).toBe(1);
  expect(valueOf(runs, 'fencepost_run_duration_seconds_count', steps)).toBe(1);
  expect(valueOf(runs, 'fencepost_effects_total', { outcome: 'done' })).toBe(3);
  const finishedAt = (run.finishedAt ?? 0) / 1_000;
  for (const page of [fires, runs]) {
    const last = valueOf(page, 'fencepost_last_success_timestamp_seconds', steps) ?? 0;
    expect(Math.abs(last - finishedAt)).toBeLessThan(5);
  }
  expect(runs.get('process_start_time_seconds')?.type).toBe('gauge');
  expect(texts.flatMap(objections)).toEqual([]);
  await pods.terminateAll();
});

it('a cron that is disabled or removed is held as any other, so that what nobody holds is an outage', async () => {
  const { pods, stores } = deployment;
  await pods.worker('worker', { env: { CRONS: 'echo,tick' } });
  await stores.crons.set('over', { expression: '@yearly', handler: 'tick' }, { by: 'the test' });
  await stores.crons.remove('over', { by: 'the test', reason: 'it is over' });
  const scheduler = await pods.scheduler('scheduler');
  const counted = async () => {
    const page = readMetrics(await textOf(scheduler));
    const states = ['active', 'disabled', 'removed'].map((state) => valueOf(page, 'fencepost_definitions', { state }));
    const held = page.get('fencepost_cron_lease_held')?.samples.reduce((sum, { value }) => sum + value, 0);
    return [...states, held];
  };
  await expect.poll(counted, { timeout: 20_000 }).toEqual([1, 1, 1, 3]);
  await pods.terminateAll();
});
