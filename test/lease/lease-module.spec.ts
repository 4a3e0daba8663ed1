import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { RedisLeaseStore, closeRedis } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE, LeaseModule } from '@fencepost/lease/nest';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

let observer: Redis;
beforeAll(() => {
  observer = new Redis(testRedis());
});
afterAll(() => closeRedis(observer));

async function start(module: ReturnType<typeof LeaseModule.forRoot>): Promise<TestingModule> {
  const started = await Test.createTestingModule({ imports: [module] }).compile();
  return started.init();
}

describe('LeaseModule', () => {
  it('provides store, clock, keeper, settings and connection', async () => {
    const app = await start(LeaseModule.forRoot({ redis: testRedis(), prefix: freshPrefix(), holder: 'pod-7' }));
    expect(app.get(LEASE_STORE)).toBeInstanceOf(RedisLeaseStore);
    expect(app.get<LeaseKeeper>(LeaseKeeper).holder).toMatch(/^pod-7\/[0-9a-f-]{36}$/);
    expect(app.get(LEASE_REDIS)).toBeInstanceOf(Redis);
    expect(app.get(LEASE_SETTINGS)).toMatchObject({ tenant: 'default', ttlMs: 10_000 });
    expect(app.get(CLOCK)).toHaveProperty('monotonic');
    await app.close();
  });

  it('takes its options from elsewhere', async () => {
    const prefix = freshPrefix();
    const app = await start(LeaseModule.forRootAsync({ useFactory: async () => ({ redis: testRedis(), prefix }) }));
    expect(app.get(LEASE_SETTINGS)).toMatchObject({ prefix });
    await app.close();
  });

  it('gives its leases back at shutdown and closes its connection', async () => {
    const prefix = freshPrefix();
    const app = await start(LeaseModule.forRoot({ redis: testRedis(), prefix }));
    const redis = app.get<Redis>(LEASE_REDIS);
    const held = await app.get<LeaseKeeper>(LeaseKeeper).tryAcquire('r', { ttlMs: 10_000 });
    await app.close();
    expect(held).toMatchObject({ acquired: true, lease: { signal: { aborted: true } } });
    const store = new RedisLeaseStore({ redis: observer, prefix, tenant: 'default' });
    expect(await store.inspect(['r'])).toEqual([null]);
    expect(redis.status).toBe('end');
    await clearPrefixes(observer, [prefix]);
  });

  it('closes in bounded time when the store is away', async () => {
    const app = await start(LeaseModule.forRoot({ redis: testRedis(), prefix: freshPrefix() }));
    await app.get(LeaseKeeper).tryAcquire('r', { ttlMs: 10_000 });
    await closeRedis(app.get<Redis>(LEASE_REDIS));
    await app.close();
    expect(app.get<Redis>(LEASE_REDIS).status).toBe('end');
  });

  it('refuses a wrong option before it connects to anything', async () => {
    const starting = start(LeaseModule.forRoot({ redis: 'redis://127.0.0.1:1', ttl: '1 minute' }));
    await expect(starting).rejects.toThrow('LeaseModule, option "ttl": expected a duration');
  });
});
