import { Counter, Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { NO_FENCE, parseFence } from '../base/fence.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { hashResource } from '../base/identity.js';
import { ManualClock } from '../testing/manual-clock.js';
import { leaseMetrics } from './lease-metrics.js';

const UUID = '0d9f1f6e-3c55-4f7b-9d0a-0a4c6c6b9a11';

let registry: Registry;
let fences: number;

beforeEach(() => {
  [registry, fences] = [new Registry(), 0];
});

const term = (resource = 'invoice:42') => ({
  ...{ resource, holder: `pod-7/${UUID}`, fence: parseFence(String((fences += 1))) },
});

/** Every event there is, about one resource. */
function everyEvent(resource: string): readonly LeaseEvent[] {
  const error = new Error(`The lease on "${resource}" …`);
  return [
    { name: 'lease.acquired', ...term(resource), ttlMs: 10_000, tookMs: 1 },
    { name: 'lease.busy', resource, remainingMs: 5_000, tookMs: 1 },
    { name: 'lease.acquire-failed', resource, tookMs: 1_000, error },
    { name: 'lease.extended', ...term(resource) },
    { name: 'lease.extend-failed', ...term(resource), error },
    { name: 'lease.lost', ...term(resource), reason: 'refused', heldMs: 3_000 },
    { name: 'lease.released', ...term(resource), heldMs: 20 },
    { name: 'lease.stale-release', ...term(resource), heldMs: 20_000 },
    { name: 'lease.release-failed', ...term(resource), heldMs: 20, error },
    { name: 'lease.ttl-unfit', resource, verdict: 'too-short', ttlMs: 10_000, advisedTtlMs: 20_000 },
    { name: 'fence.rejected', resource, downstream: 'billing', fence: NO_FENCE },
    { name: 'node.health', node: 'a', healthy: false },
    { name: 'store.warning', code: 'EVICTION', message: 'keys may be evicted' },
  ];
}

/** Every line that is no comment, of which `from` is a part. */
async function series(from = ''): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#') && line.includes(from));
}

async function valueOf(name: string, labels: string): Promise<number> {
  const [line = ''] = await series(`${name}{${labels}} `);
  return Number(line.split(' ').at(-1));
}

describe('the metrics', () => {
  it('count each event under the type of its resource', async () => {
    const observe = leaseMetrics({ registry });
    for (const event of everyEvent('invoice:42')) observe(event);
    const counted = (await series('fencepost_')).filter((line) => line.includes('_total{') && !line.endsWith(' 0'));
    expect(counted.toSorted()).toEqual(
      [
        'fencepost_lease_acquire_total{resource_type="invoice",outcome="acquired"} 1',
        'fencepost_lease_acquire_total{resource_type="invoice",outcome="busy"} 1',
        'fencepost_lease_acquire_total{resource_type="invoice",outcome="error"} 1',
        'fencepost_lease_release_total{resource_type="invoice",outcome="released"} 1',
        'fencepost_lease_release_total{resource_type="invoice",outcome="stale"} 1',
        'fencepost_lease_release_total{resource_type="invoice",outcome="error"} 1',
        'fencepost_lease_extend_total{resource_type="invoice",outcome="extended"} 1',
        'fencepost_lease_extend_total{resource_type="invoice",outcome="error"} 1',
        'fencepost_lease_extend_total{resource_type="invoice",outcome="refused"} 1',
        'fencepost_lease_lost_total{resource_type="invoice",reason="refused"} 1',
        'fencepost_lease_stale_release_total{resource_type="invoice"} 1',
        'fencepost_lease_contention_total{resource_type="invoice"} 1',
        'fencepost_lease_expired_without_release_total{resource_type="invoice"} 3',
        'fencepost_lease_fencing_rejected_total{resource_type="invoice",downstream="billing"} 1',
      ].toSorted(),
    );
    expect(await valueOf('redis_lease_acquire_latency_ms_sum', 'resource_type="invoice"')).toBe(1_002);
    const failed = 'resource_type="invoice",outcome="error"';
    expect(await valueOf('fencepost_lease_acquire_duration_seconds_sum', failed)).toBe(1);
    expect(await valueOf('redis_lease_hold_time_ms_count', 'resource_type="invoice"')).toBe(4);
    expect(await valueOf('fencepost_lease_hold_time_seconds_count', 'resource_type="invoice"')).toBe(4);
  });

  it('say the same under their older names, in milliseconds where those end so', async () => {
    const observe = leaseMetrics({ registry });
    for (const event of everyEvent('invoice:42')) observe(event);
    const counters = (await series('_total{')).toSorted();
    const older = counters.flatMap((line) => (line.startsWith('redis_') ? line : []));
    expect(older).toHaveLength(counters.length / 2);
    expect(older.map((line) => line.replace('redis_', 'fencepost_'))).toEqual(
      counters.filter((line) => line.startsWith('fencepost_')),
    );
    const sumOf = (name: string) => valueOf(`${name}_sum`, 'resource_type="invoice"');
    const seconds = await sumOf('fencepost_lease_hold_time_seconds');
    expect(await sumOf('redis_lease_hold_time_ms')).toBeCloseTo(seconds * 1_000);
    expect(seconds).toBeCloseTo(23.04);
    const within = (await series('redis_lease_acquire_latency_ms_bucket')).map(
      (line) => /le="([^"]+)"/.exec(line)?.[1],
    );
    expect(within).toEqual([...'0.5 1 2 5 10 25 50 100 250 500 1000 2500 5000 +Inf'.split(' ')]);
    expect(await valueOf('redis_node_health', 'node="a"')).toBe(0);
    expect(await valueOf('fencepost_lease_node_health', 'node="a"')).toBe(0);
  });

  it('begin at 0 with the first event of a type: the first loss is an increase then', async () => {
    const observe = leaseMetrics({ registry });
    observe({ name: 'lease.acquired', ...term('invoice:42'), ttlMs: 10_000, tookMs: 1 });
    const lost = (reason: string) =>
      valueOf('fencepost_lease_lost_total', `resource_type="invoice",reason="${reason}"`);
    expect(await lost('max-hold')).toBe(0);
    observe({ name: 'lease.lost', ...term('invoice:42'), reason: 'max-hold', heldMs: 1 });
    expect(await lost('max-hold')).toBe(1);
    expect(await valueOf('fencepost_lease_acquire_total', 'resource_type="invoice",outcome="error"')).toBe(0);
  });

  it('never show an id or a holder', async () => {
    const observe = leaseMetrics({ registry });
    for (const resource of ['invoice:4711', 'patient:anna', 'nightly-anna', 'Anna:4711']) {
      for (const event of everyEvent(resource)) observe(event);
    }
    const text = await registry.metrics();
    for (const secret of ['4711', 'anna', 'Anna', UUID.slice(0, 8), 'pod-7']) expect(text).not.toContain(secret);
    expect(text).toContain('resource_type="untyped"');
  });

  it('have a bounded number of series, for 10,000 resources of 500 types as for any other number', async () => {
    const observe = leaseMetrics({ registry });
    const count = async (resources: number, types: number) => {
      for (let n = 0; n < resources; n += 1) {
        const resource = `type-${n % types}:${n}`;
        observe({ name: 'lease.acquired', ...term(resource), ttlMs: 10_000, tookMs: 1 });
        observe({ name: 'lease.released', ...term(resource), heldMs: 20 });
        observe({ name: 'fence.rejected', resource, downstream: `downstream-${n % 50}`, fence: NO_FENCE });
        observe({ name: 'node.health', node: `node-${n % 50}`, healthy: true });
      }
      return (await series()).length;
    };
    const afterTenThousand = await count(10_000, 500);
    // For each of 101 types, under two names: 16 counters, histograms of 15 and 16 lines, and 21 downstreams; and the nodes.
    expect(afterTenThousand).toBeLessThan(2 * (101 * (16 + 15 + 16 + 21) + 21));
    expect(new Set((await series('fencepost_lease_acquire_total')).map((line) => line.split('"')[1])).size).toBe(101);
    expect(await valueOf('fencepost_lease_acquire_total', 'resource_type="other",outcome="acquired"')).toBe(8_000);
    expect(await count(1_000, 1_000)).toBe(afterTenThousand);
  });

  describe('of leases that are held', () => {
    const MINUTE = 60_000;
    const acquired = (resource: string, more: { readonly maxHoldMs?: number } = {}) =>
      ({ name: 'lease.acquired', ...term(resource), ttlMs: 10_000, tookMs: 0, ...more }) as const;
    const lasting = { maxHoldMs: 60 * MINUTE };
    const since = () => series('fencepost_lease_held_since_timestamp_seconds{');
    const over = () => series('fencepost_lease_held_over_budget{');

    it('show since when the oldest are held, by the hash of their name, and forget what is over', async () => {
      const clock = new ManualClock();
      const observe = leaseMetrics({ registry, clock });
      const began = clock.now() / 1_000;
      const [first, second] = [acquired('invoice:42', lasting), acquired('invoice:43', lasting)];
      for (const event of [first, second]) observe(event);
      await clock.advance(MINUTE - 1);
      expect(await since()).toEqual([]);
      await clock.advance(1);
      const lineOf = (resource: string) =>
        `fencepost_lease_held_since_timestamp_seconds{resource_type="invoice",resource="${hashResource(resource)}"} ${began}`;
      expect(await since()).toEqual([lineOf('invoice:42'), lineOf('invoice:43')]);
      const { resource, holder, fence } = first;
      observe({ name: 'lease.released', resource, holder, fence, heldMs: MINUTE });
      expect(await since()).toEqual([lineOf('invoice:43')]);
    });

    it('have at most 20 series of these, the oldest', async () => {
      const clock = new ManualClock();
      const observe = leaseMetrics({ registry, clock });
      for (let n = 0; n < 100; n += 1) observe(acquired(`invoice:${n}`, lasting));
      await clock.advance(2 * MINUTE);
      const shown = await since();
      expect(shown).toHaveLength(20);
      expect(shown[0]).toContain(hashResource('invoice:0'));
    });

    it('count those over their budget: maxHold, or else ten times the ttl; none for roles', async () => {
      const clock = new ManualClock();
      const observe = leaseMetrics({ registry, clock });
      const held = [acquired('invoice:1'), acquired('report:1', lasting), acquired('role:leader')];
      for (const event of held) observe(event);
      const renewFor = async (ms: number) => {
        for (let left = ms; left > 0; left -= 5_000) {
          await clock.advance(5_000);
          for (const { resource, holder, fence } of held) observe({ name: 'lease.extended', resource, holder, fence });
        }
      };
      await renewFor(100_000);
      expect(await over()).toEqual([]);
      await renewFor(5_000);
      expect(await over()).toEqual(['fencepost_lease_held_over_budget{resource_type="invoice"} 1']);
      const [{ resource, holder, fence }] = held as [ReturnType<typeof acquired>];
      observe({ name: 'lease.lost', resource, holder, fence, reason: 'refused', heldMs: 1 });
      expect(await over()).toEqual([]);
    });

    it('take a lease that is not renewed for over: it was given back without an event', async () => {
      const clock = new ManualClock();
      const observe = leaseMetrics({ registry, clock });
      observe(acquired('invoice:1'));
      await clock.advance(200_000);
      expect([await over(), await since()]).toEqual([[], []]);
    });
  });

  it('refuse a registry that has something else under one of the names', () => {
    const taken = { name: 'redis_lease_hold_time_ms', help: 'somebody else’s', registers: [registry] };
    expect(new Counter(taken)).toBeDefined();
    expect(() => leaseMetrics({ registry })).toThrow(/redis_lease_hold_time_ms has already been registered/);
  });

  it('show a node that is left out and asked again, and no metric of nodes to whom no quorum has any', async () => {
    const observe = leaseMetrics({ registry });
    expect(registry.getSingleMetric('fencepost_lease_node_health')).toBeUndefined();
    const health = () => valueOf('fencepost_lease_node_health', 'node="a"');
    observe({ name: 'node.health', node: 'a', healthy: false, because: 'timed out' });
    expect(await health()).toBe(0);
    observe({ name: 'node.health', node: 'a', healthy: true });
    expect(await health()).toBe(1);
  });
});
