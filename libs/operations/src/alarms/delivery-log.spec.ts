import { expect, it } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { DeliveryLog, type Delivery } from './delivery-log.js';

const spaces = redisSpaces();

const delivery = (attempt: number): Delivery => ({
  ...{ at: '2030-01-01T00:00:00.000Z', messageId: 'msg_1', about: 'run.failed', cron: 'nightly', attempt },
  ...{ outcome: 'failed', status: 500, tookMs: 12, error: 'it answered 500' },
});

it('keeps the latest 50 deliveries to each receiver, the newest first, and not for ever', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const log = new DeliveryLog({ redis, ...space });
  for (let attempt = 1; attempt <= 60; attempt += 1) await log.add('a1b2', delivery(attempt));
  await log.add('c3d4', delivery(1));
  const kept = await log.of('a1b2');
  expect([kept.length, kept[0]?.attempt, kept.at(-1)?.attempt]).toEqual([50, 60, 11]);
  expect(await log.of('c3d4')).toEqual([delivery(1)]);
  expect(await log.of('none')).toEqual([]);
  const keys = await redis.keys(`*${space.prefix}*deliveries*`);
  expect(keys).toHaveLength(2);
  for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
});
