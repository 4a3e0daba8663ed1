import { describe, expect, it } from 'vitest';
import { parseFence } from '../base/fence.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { TtlAdviser } from './ttl-adviser.js';

interface Holding {
  readonly resource?: string;
  readonly heldMs: number;
  readonly ttlMs?: number;
  readonly times?: number;
}

function stage(maxRemembered?: number) {
  const told: LeaseEvent[] = [];
  const adviser = new TtlAdviser({
    notify: (event) => void told.push(event),
    ...(maxRemembered !== undefined && { maxRemembered }),
  });
  let fences = 0;
  const hold = ({ resource = 'r', heldMs, ttlMs = 10_000, times = 100 }: Holding) => {
    for (let n = 0; n < times; n += 1) {
      const term = { resource, holder: 'pod/1', fence: parseFence(String((fences += 1))) };
      adviser.observe({ name: 'lease.acquired', ...term, ttlMs, tookMs: 1 });
      adviser.observe({ name: 'lease.released', ...term, heldMs });
    }
  };
  const verdicts = () => told.map((event) => event.name === 'lease.ttl-unfit' && event.verdict);
  return { adviser, told, hold, verdicts };
}

describe('the adviser', () => {
  it('says what was measured and which ttl that needs', () => {
    const { adviser, hold } = stage();
    hold({ heldMs: 2_000, times: 100 });
    const advice = adviser.advice('r');
    expect(advice).toMatchObject({ about: 'r', samples: 100, ttlMs: 10_000, advisedTtlMs: 2_500, verdict: 'fits' });
    for (const ms of Object.values(advice.holdMs)) expect(Math.abs(ms - 2_020)).toBeLessThanOrEqual(20);
    expect(advice.p999StoreMs).toBeCloseTo(1, 1);
  });

  it('knows nothing of a resource it has not seen', () => {
    expect(stage().adviser.advice('r')).toMatchObject({ samples: 0, ttlMs: null, verdict: 'too-few-samples' });
  });

  it('emits an unfit TTL once, until the verdict changes', () => {
    const { told, hold, verdicts } = stage();
    hold({ heldMs: 20_000, times: 99 });
    expect(told).toEqual([]);
    hold({ heldMs: 20_000, times: 901 });
    const unfit = { name: 'lease.ttl-unfit', resource: 'r', verdict: 'too-short', ttlMs: 10_000, advisedTtlMs: 25_000 };
    expect(told).toEqual([unfit]);
    hold({ heldMs: 20_000, ttlMs: 25_000 });
    expect(verdicts()).toEqual(['too-short']);
    hold({ heldMs: 20_000 });
    expect(verdicts()).toEqual(['too-short', 'too-short']);
    hold({ heldMs: 20_000, ttlMs: 3_600_000 });
    expect(verdicts()).toEqual(['too-short', 'too-short', 'too-long']);
  });

  it('measures answered requests only: a timeout is no latency of the store', () => {
    const { adviser, hold } = stage();
    hold({ heldMs: 20 });
    for (let n = 0; n < 1_000; n += 1) {
      adviser.observe({ name: 'lease.acquire-failed', resource: 'r', tookMs: 5_000, error: new Error('timed out') });
    }
    expect(adviser.advice('r').p999StoreMs).toBeLessThan(2);
    adviser.observe({ name: 'lease.busy', resource: 'r', remainingMs: 1, tookMs: 400 });
    expect(adviser.advice('r').p999StoreMs).toBeGreaterThan(300);
  });

  it('remembers a bounded number of resources, those that were acquired last', () => {
    const { adviser, hold } = stage(3);
    for (const resource of ['a', 'b', 'c', 'a', 'd']) hold({ resource, heldMs: 5, times: 1 });
    expect(['a', 'b', 'c', 'd'].map((resource) => adviser.advice(resource).samples)).toEqual([2, 0, 1, 1]);
  });
});
