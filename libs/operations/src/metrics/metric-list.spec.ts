import { leaseMetrics } from '@fencepost/lease/metrics';
import { Registry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import { expect, it } from 'vitest';
import { LEASE_METRICS, METRICS } from './metric-list.js';
import type { MetricSpec } from './cron-metrics.js';

const all: readonly MetricSpec[] = Object.values(METRICS);

it('every metric has a name of its own, and a help that ends as a sentence does', () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, help } of all) expect(help, name).toMatch(/^[A-Z0-9].*\.$/);
});

it.each(all.map((spec) => [spec.name, spec] as const))('%s is called as Prometheus wants it', (name, spec) => {
  expect(name).toMatch(/^fencepost_[a-z]+(_[a-z]+)*$/);
  expect(name.endsWith('_total')).toBe(spec.type === 'counter');
  // Base units stand at the end of the name, and nothing else does that looks like one.
  expect(/_seconds(_total)?$/.test(name)).toBe(spec.unit === 'seconds');
  expect(name).not.toMatch(/_(ms|millis|milliseconds|minutes|hours|count|sum|bucket|percent)(_|$)/);
  for (const label of Object.keys(spec.labels)) expect(label).toMatch(/^(?!le$|quantile$|__)[a-z][a-z_]*$/);
});

it('labels take a bounded number of values, and only names of crons, apps, types, hashed resources, downstreams and nodes are no list', () => {
  for (const { name, labels } of all) {
    const open = Object.entries(labels).filter(([, values]) => values === null);
    const allowed = [
      'cron',
      'resource_type',
      'resource',
      'downstream',
      'node',
      'reason',
      'operation',
      'tag',
      'owner',
      'runbook_url',
      'app',
      'revision',
    ];
    expect(allowed, name).toEqual(expect.arrayContaining(open.map(([label]) => label)));
    for (const values of Object.values(labels)) expect(values?.length ?? 0, name).toBeLessThanOrEqual(10);
  }
});

/** One in milliseconds has the type of the resource as its only label. */
function aliasOf({ alias, help, type, labels }: Pick<MetricSpec, 'help' | 'type' | 'labels'> & { alias: string }) {
  const inMs = alias.endsWith('_ms');
  const named = inMs ? ['resource_type'] : Object.keys(labels);
  return {
    name: alias,
    help: inMs ? help.replace(/^Seconds/, 'Milliseconds') : help,
    type,
    labels: named,
  };
}

it('the names that row 18 of the requirements gives to leases are there, as aliases', () => {
  const named = ['acquire', 'release', 'extend', 'lost', 'stale_release', 'fencing_rejected', 'contention'];
  expect(all.map(({ alias }) => alias)).toEqual(
    expect.arrayContaining([...named.map((one) => `redis_lease_${one}_total`), 'redis_lease_acquire_latency_ms']),
  );
});

it('the leases have the metrics that the list names, and no other', async () => {
  const registry = new Registry();
  // The server of a quorum brings its metric.
  leaseMetrics({ registry })({ name: 'node.health', node: 'a', healthy: true });
  const registered = await registry.getMetricsAsJSON();
  const shapeOf = (one: MetricObjectWithValues<MetricValue<string>>) => ({
    ...{ name: one.name, help: one.help, type: String(one.type) },
    labels: (registry.getSingleMetric(one.name) as unknown as { labelNames: string[] }).labelNames.filter(
      (l) => l !== 'le',
    ),
  });
  const leases: readonly MetricSpec[] = Object.values(LEASE_METRICS);
  const listed = leases.flatMap(({ name, alias, help, type, labels }) => [
    { name, help, type, labels: Object.keys(labels) },
    ...(alias === undefined ? [] : [aliasOf({ alias, help, type, labels })]),
  ]);
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(registered.map(shapeOf).toSorted(byName)).toEqual(listed.toSorted(byName));
});
