import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFence, StaleFenceError, type LeaseEvent } from '@fencepost/lease';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { freshPrefix, testRedis } from '../support/redis.js';

const OLD = parseFence('1787654321123456');
const NEW = parseFence('1787654321123457');

describe('rows that refuse a stale writer', () => {
  let redis: RedisClient;
  let rows: RedisFencedRows;

  beforeEach(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 2_000, name: 'fenced-rows' });
    rows = new RedisFencedRows({ redis, prefix: freshPrefix(), tenant: 'default', table: 'sink' });
  });

  afterEach(async () => {
    await closeRedis(redis);
  });

  const write = (fence: typeof OLD, idempotencyKey: string, value = idempotencyKey) =>
    rows.write({ row: 'balance', value, fence, idempotencyKey });

  it('takes a write under an equal or a larger fence', async () => {
    expect(await write(OLD, 'first')).toBe('written');
    expect(await write(OLD, 'second')).toBe('written');
    expect(await write(NEW, 'third')).toBe('written');
    expect(await rows.read('balance')).toBe('third');
  });

  it('refuses a lower fence by one, changes nothing, and counts it', async () => {
    await write(NEW, 'by the successor');
    await expect(write(OLD, 'by the one that was frozen')).rejects.toThrowError(StaleFenceError);
    expect(await rows.read('balance')).toBe('by the successor');
    expect(await rows.turnedDown()).toEqual({ stale: 1, repeated: 0 });
    expect(await rows.journal()).toEqual([{ row: 'balance', idempotencyKey: 'by the successor', fence: NEW }]);
  });

  it('is counted as a downstream of its own when it refuses', async () => {
    const events: LeaseEvent[] = [];
    const space = { redis, prefix: freshPrefix(), tenant: 'default', table: 'sink' };
    const counted = new RedisFencedRows({
      ...space,
      downstream: 'ledger',
      observe: (event) => void events.push(event),
    });
    await counted.write({ row: 'balance', value: '2', fence: NEW, idempotencyKey: 'b' });
    const stale = counted.write({ row: 'balance', value: '1', fence: OLD, idempotencyKey: 'a' });
    await expect(stale).rejects.toThrowError('"sink:balance" refused fence');
    expect(events).toEqual([{ name: 'fence.rejected', resource: 'sink:balance', downstream: 'ledger', fence: OLD }]);
  });

  it('recognises a repeated write by its key, under whatever fence, and changes nothing', async () => {
    await write(OLD, 'charge', 'as charged');
    expect(await write(NEW, 'charge', 'charged again')).toBe('repeated');
    expect(await rows.read('balance')).toBe('as charged');
    expect(await rows.turnedDown()).toEqual({ stale: 0, repeated: 1 });
  });

  it('fences each row for itself', async () => {
    await write(NEW, 'a');
    expect(await rows.write({ row: 'other', value: 'b', fence: OLD, idempotencyKey: 'b' })).toBe('written');
    expect(await rows.read('none')).toBeNull();
  });

  it('accepts one of fifty writes that race under one key', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => write(NEW, 'once')));
    expect(replies.filter((reply) => reply === 'written')).toHaveLength(1);
    expect(await rows.journal()).toHaveLength(1);
  });
});
