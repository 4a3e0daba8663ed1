import type { Redis } from 'ioredis';
import type { RunContext } from '@fencepost/jobs';
import { parseFence, StaleFenceError } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshPrefix, testRedis } from '../../../../test/support/redis.js';
import { LatencyReport } from './latency-report.js';
import { Pulse, SAMPLES } from './pulse.js';
import { Snapshot } from './snapshot.js';

let redis: Redis;
let sink: RedisFencedRows;
const prefix = freshPrefix();

beforeAll(async () => {
  redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
});
beforeEach(async () => {
  const keys = await redis.keys(`${prefix}:*`);
  if (keys.length > 0) await redis.del(keys);
  sink = new RedisFencedRows({ redis, prefix, tenant: 'default', table: 'sink' });
});
afterAll(async () => {
  const keys = await redis.keys(`${prefix}:*`);
  if (keys.length > 0) await redis.del(keys);
  await closeRedis(redis);
});

/** A run whose effects act at once, and that remembers what it was told. */
function run(atSecond: number, over: { attempt?: number; fence?: number } = {}) {
  const [said, progress, effects]: [string[], unknown[], string[]] = [[], [], []];
  const id = `cron@${atSecond * 1_000}`;
  const fence = parseFence(String(over.fence ?? 7));
  const { signal } = new AbortController();
  const context = {
    ...{ id, scheduledAt: new Date(atSecond * 1_000), attempt: over.attempt ?? 1, fence, signal },
    log: { info: (line: string) => void said.push(line) },
    progress: async (value: unknown) => void progress.push(value),
    effect: async (name: string, act: (given: object) => unknown) => {
      effects.push(name);
      return act({ fence, idempotencyKey: `${id}/${name}`, signal });
    },
  } as unknown as RunContext;
  return { context, said, progress, effects };
}

describe('pulse', () => {
  it('writes one sample into a ring, and says what it saw', async () => {
    const { context, said } = run(2 * SAMPLES + 2);
    await new Pulse(redis, sink).run(context);
    const sample = JSON.parse((await sink.read('sample/1')) ?? '{}') as Record<string, number>;
    expect(sample['usedBytes']).toBeGreaterThan(100_000);
    expect(sample['clients']).toBeGreaterThan(0);
    expect(said).toEqual([expect.stringMatching(/^\d+ bytes, \d+ clients, \d+ commands\/s$/)]);
  });

  it('can not overwrite what a later attempt has written', async () => {
    const pulse = new Pulse(redis, sink);
    await pulse.run(run(2, { fence: 8 }).context);
    await expect(pulse.run(run(62, { fence: 7 }).context)).rejects.toThrow(StaleFenceError);
  });
});

describe('latency-report', () => {
  it('probes each command in an effect of its own and publishes all in the last', async () => {
    const { context, effects, progress } = run(10);
    await new LatencyReport(redis, sink).run(context);
    expect(effects).toEqual(['probe-ping', 'probe-get', 'probe-time', 'probe-script', 'publish']);
    const report = JSON.parse((await sink.read('latency/report')) ?? '{}') as Record<string, number>;
    expect(Object.keys(report)).toEqual(['ping', 'get', 'time', 'script']);
    for (const micros of Object.values(report)) expect(micros).toBeGreaterThan(0);
    expect(progress).toEqual([20, 40, 60, 80, 100]);
  });
});

describe('snapshot', () => {
  it('packs the samples and records what it packed', async () => {
    await new Pulse(redis, sink).run(run(2).context);
    const { context, said } = run(5);
    await new Snapshot(sink).run(context);
    const record = JSON.parse((await sink.read('snapshot')) ?? '{}') as Record<string, unknown>;
    expect(record).toEqual({ bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(said).toEqual([`${String(record['bytes'])} bytes, sha256 ${String(record['sha256'])}`]);
  });

  it('meets its unreliable archive at every third instant, in the first attempt alone', async () => {
    const snapshot = new Snapshot(sink);
    await expect(snapshot.run(run(15).context)).rejects.toThrow('503');
    await snapshot.run(run(15, { attempt: 2 }).context);
    await snapshot.run(run(20).context);
  });
});
