import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, StoreHealth } from '@fencepost/jobs';
import { JobsMetrics, MetricsModule } from '@fencepost/operations/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisSpaces } from '../jobs/redis-space.js';
import { servers, type Servers } from '../lease/quorum-redis.js';
import { fencepost } from '../support/fencepost.js';
import { testRedis } from '../support/redis.js';

const WITHIN = { timeout: 40_000, interval: 250 };

@Injectable()
class Ticker {
  runs = 0;

  @SingletonCron('* * * * * *', { name: 'tick' })
  tick(): void {
    this.runs += 1;
  }
}

describe('schedulers whose lease store has lost its majority', { timeout: 60_000 }, () => {
  const spaces = redisSpaces();
  let nodes: Servers;
  let app: INestApplicationContext;
  let env: Record<string, string> = {};

  beforeAll(async () => {
    nodes = await servers(3);
    const leases = `quorum:${nodes.urls.join(',')}`;
    const space = spaces.fresh();
    env = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: space.prefix, FENCEPOST_LEASES: leases };
    const jobs = JobsModule.forRoot({
      ...{ roles: ['scheduler', 'worker'], redis: testRedis(), leases, ...space, leaseTtl: '2s', app: 'test' },
      drainDeadline: '1s',
    });
    const made = Test.createTestingModule({ imports: [jobs, MetricsModule.on(jobs)], providers: [Ticker] });
    app = await made.compile();
    await app.init();
  });

  afterAll(async () => {
    await app.close();
    await nodes.stop();
  });

  const ask = (...args: string[]) => fencepost([...args, '--json'], { env });
  const stores = async () => (await app.get(StoreHealth).check()).map(({ store, up }) => [store, up]);
  const codes = async () => ((await ask('doctor')).json as { code: string }[]).map(({ code }) => code);

  it('A2 are ready while it answers', async () => {
    await expect.poll(() => app.get(Ticker).runs, WITHIN).toBeGreaterThan(0);
    expect(await stores()).toEqual([
      ['redis', true],
      ['leases', true],
    ]);
  });

  it('A2 are not ready, and the doctor names the store and advises no longer ttl', async () => {
    await Promise.all(nodes.all.slice(0, 2).map((node) => node.stop()));
    await expect.poll(stores, WITHIN).toContainEqual(['leases', false]);
    await expect.poll(codes, WITHIN).toContain('LEASE_STORE_DOWN');
    const { json } = await ask('doctor');
    expect(json).toContainEqual(
      expect.objectContaining({ code: 'LEASE_STORE_DOWN', level: 'bad', subject: expect.stringContaining('quorum:') }),
    );
    expect(await codes()).not.toContain('LEASES_LOST');
    expect(await app.get(JobsMetrics).registry.metrics()).toMatch(/^fencepost_lease_store_down_seconds [1-9]/m);
  });

  it('A2 are listed, shown and explained without it', async () => {
    const { code, json, err } = await ask('list');
    expect([code, err, json]).toEqual([0, '', [expect.objectContaining({ name: 'tick', holder: null })]]);
    expect((await ask('show', 'tick')).json).toMatchObject({ name: 'tick', holder: null });
    expect((await ask('why', 'tick', 'last')).code).toBe(0);
  });

  it('A2 go on when it is back', async () => {
    await Promise.all(nodes.all.slice(0, 2).map((node) => node.restartEmpty()));
    const before = app.get(Ticker).runs;
    await expect.poll(() => app.get(Ticker).runs, WITHIN).toBeGreaterThan(before);
    await expect.poll(stores, WITHIN).toContainEqual(['leases', true]);
    await expect.poll(codes, WITHIN).not.toContain('LEASE_STORE_DOWN');
  });
});
