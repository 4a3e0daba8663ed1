import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { freePort } from '../../scripts/redis.mjs';
import { win } from '../support/lease-requests.js';
import { recordedWarnings } from '../support/recorded-warnings.js';
import { freshPrefix } from '../support/redis.js';
import type { PrivateRedis } from '../support/redis.js';
import { PRIMARY_NAME, sentinelStage } from '../support/sentinel.js';
import type { SentinelStage } from '../support/sentinel.js';

const COMMAND_TIMEOUT_MS = 300;
const TTL_MS = 60_000;

let stage: SentinelStage;
beforeAll(async () => {
  stage = await sentinelStage();
});
afterAll(() => stage.stop());

const settings = { commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'test' };

function refusal(sentinels: SentinelStage['sentinels'], name: string): Promise<unknown> {
  return connectRedis({ ...settings, sentinel: { sentinels, name } }).catch((error: unknown) => error);
}

describe('connectRedis by sentinels', () => {
  it('finds the primary, also when the first sentinel it asks is gone', async () => {
    const gone = { host: '127.0.0.1', port: await freePort() };
    const sentinel = { sentinels: [gone, ...stage.sentinels], name: PRIMARY_NAME };
    const redis = await connectRedis({ ...settings, sentinel });
    expect(await redis.info('replication')).toContain('role:master');
    await closeRedis(redis);
  });

  it('says that they know no primary of that name', async () => {
    const error = await refusal(stage.sentinels, 'other');
    expect(error).toBeInstanceOf(SetupError);
    expect(error).toHaveProperty('message', expect.stringContaining('they know no primary of that name'));
  });

  it('says that none of them answers', async () => {
    const error = await refusal([{ host: '127.0.0.1', port: await freePort() }], PRIMARY_NAME);
    expect(error).toBeInstanceOf(SetupError);
    expect(error).toHaveProperty('message', expect.stringContaining('none of them answers'));
  });
});

describe('a failover that sentinels decide', () => {
  let redis: Redis;
  const warnings = recordedWarnings();

  beforeAll(async () => {
    const sentinel = { sentinels: stage.sentinels, name: PRIMARY_NAME };
    redis = await connectRedis({ ...settings, sentinel, observe: warnings.observe });
  });
  afterAll(() => closeRedis(redis));

  /** Goes on where the connection ends up, on a resource that nobody holds. */
  async function nextFence(store: RedisLeaseStore): Promise<number> {
    let fence = 0;
    const look = async () => {
      const term = await win(store, { ttlMs: TTL_MS }).catch(() => null);
      fence = term?.fence ?? 0;
      if (term) await store.release([term]);
      return fence;
    };
    await expect.poll(look, { interval: 50, timeout: 20_000 }).toBeGreaterThan(0);
    return fence;
  }

  async function expectFollowed(hit: (primary: PrivateRedis) => unknown): Promise<void> {
    await stage.untilReplicated(1);
    const primary = await stage.primary();
    const store = new RedisLeaseStore({ redis, prefix: freshPrefix(), tenant: 't' });
    const before = await nextFence(store);
    const told = warnings.codes.length;
    await hit(primary);
    await expect.poll(async () => (await stage.primary()).port, { timeout: 20_000 }).not.toBe(primary.port);
    expect(await nextFence(store)).toBeGreaterThan(before);
    await expect.poll(() => warnings.codes.slice(told)).toContain('HISTORY_LOST');
  }

  it('is followed when the primary freezes: fences go on increasing, and the lost history is told', async () => {
    // It stays frozen: thawed, it would be a candidate for the next failover, with its old data.
    await expectFollowed((primary) => primary.freeze());
  });

  it('is followed when the primary is killed as well', async () => {
    await expectFollowed((primary) => primary.stop());
  });
});
