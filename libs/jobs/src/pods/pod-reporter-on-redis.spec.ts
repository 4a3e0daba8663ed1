import { EventEmitter, once } from 'node:events';
import type { RedisClient } from '@fencepost/lease/redis';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { card } from '../../../../test/contracts/pod-registry.contract.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { countedRedis } from '../../../../test/support/counted-redis.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { REPORT_MS } from './pod-registry.js';
import { PodReporter } from './pod-reporter.js';
import { RedisPodRegistry, type RedisPodRegistryOptions } from './redis-pod-registry.js';

const spaces = redisSpaces();

describe('PodReporter', () => {
  it.each([1, 1_000])('sends one command in five seconds for a pod with %i crons', async (crons) => {
    const { counting, asked } = countedRedis(spaces.redis());
    const sizes = await reportedFor(60_000, { redis: counting, ...spaces.fresh() }, crons);
    expect(asked.filter((name) => name.startsWith('fencepost:report-pod')).length).toBeLessThanOrEqual(12 + 2);
    expect(sizes.length).toBe(12);
    expect(Math.max(...sizes)).toBeLessThan(1_000);
  });
});

/**
 * Runs a reporter by a clock of its own.
 * @returns the bytes of each report after those at the start
 */
async function reportedFor(ms: number, at: RedisPodRegistryOptions, crons: number): Promise<number[]> {
  const { pod, ...facts } = card('a/1', { roles: ['worker'] });
  const [clock, replies, store] = [new ManualClock(), new EventEmitter(), new RedisPodRegistry(at)];
  const watchLag = () => ({ take: () => clock.now() % 7, stop: () => {} });
  const registry = {
    report: async (...args: Parameters<typeof store.report>) => {
      const reply = await store.report(...args);
      replies.emit('reply');
      return reply;
    },
    leave: (name: string) => store.leave(name),
  };
  const reporter = new PodReporter({ registry, clock, telemetry: new Telemetry(), watchLag, facts: { pod, ...facts } });
  const handlers = Array.from({ length: crons }, (_, n) => `a-cron-with-a-name-${n}`);
  await reporter.know(() => ({ handlers, concurrency: 10, running: clock.now() % 10, revision: 1 }));
  const sizes: number[] = [];
  for (let passed = 0; passed < ms; passed += REPORT_MS) {
    const [before, reply] = [await bytesSent(at.redis), once(replies, 'reply')];
    await clock.advance(REPORT_MS);
    await reply;
    sizes.push((await bytesSent(at.redis)) - before);
  }
  await reporter.stop();
  return sizes;
}

/** The bytes of all commands that this connection has sent. */
async function bytesSent(redis: RedisClient): Promise<number> {
  const id = await redis.call('CLIENT', 'ID');
  const list = String(await redis.call('CLIENT', 'LIST', 'ID', String(id)));
  return Number(/tot-net-in=(\d+)/.exec(list)?.[1] ?? 0);
}
