import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, LEDGER, SingletonCron, Telemetry, type RunContext } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordedEvents } from '../support/recorded.js';
import { rejectionOf } from '../support/refusals.js';
import { freshPrefix } from '../support/redis.js';
import { replicatedRedis, type ReplicatedRedis } from '../support/replicated-redis.js';

let servers: ReplicatedRedis;
const apps: INestApplicationContext[] = [];

beforeAll(async () => {
  servers = await replicatedRedis({ appendonly: 'yes', appendfsync: 'always' });
});
afterEach(async () => {
  servers.replicaServer.thaw();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});
afterAll(() => servers.stop());

@Injectable()
class Charging {
  readonly charged: string[] = [];

  @SingletonCron('* * * * * *', { name: 'charge', criticality: 'correctness' })
  async charge(run: RunContext): Promise<void> {
    await run.effect('card', () => this.charged.push(run.id));
  }
}

async function start(waitReplicas: number): Promise<INestApplicationContext> {
  const redis = servers.primary.url;
  for (const one of [servers.redis, servers.replica]) await one.config('SET', 'appendfsync', 'always');
  const options = { redis, prefix: freshPrefix(), waitReplicas, drainDeadline: '2s' } as const;
  const jobs = JobsModule.forRoot({ roles: ['scheduler', 'worker'], ...options });
  const app = await Test.createTestingModule({ imports: [jobs], providers: [Charging] }).compile();
  apps.push(app);
  return app.init();
}

describe('a job for which a duplicate is damage, on a Redis with a replica', () => {
  it('does not start where nothing waits for the replica', async () => {
    expect(await rejectionOf(start(0))).toMatchObject({
      code: 'CLASSIFICATION',
      message: expect.stringContaining('"waitReplicas: 1" in the options of JobsModule'),
    });
  });

  it(
    'does nothing while the replica is away, and goes on when it is back, each run once',
    { timeout: 60_000 },
    async () => {
      const app = await start(1);
      // It was judged by it. What the disk of this machine takes for each write is not what is tested here.
      for (const one of [servers.redis, servers.replica]) await one.config('SET', 'appendfsync', 'no');
      const [{ charged }, events] = [app.get(Charging), recordedEvents(app.get(Telemetry))];
      await expect.poll(() => charged.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(2);

      servers.replicaServer.freeze();
      const refusals = () => events.of('store.failed').filter(({ err }) => err.name === 'NotReplicatedError').length;
      // What was acknowledged before may still be under way until the first refusal.
      await expect.poll(refusals, { timeout: 15_000 }).toBeGreaterThanOrEqual(1);
      const before = charged.length;
      await expect.poll(refusals, { timeout: 15_000 }).toBeGreaterThanOrEqual(4);
      expect(charged).toHaveLength(before);

      servers.replicaServer.thaw();
      await expect.poll(() => charged.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(before + 3);
      expect(new Set(charged).size).toBe(charged.length);
      const runs = await app.get<Ledger>(LEDGER).runs('charge', 100);
      expect(runs.filter(({ state }) => state === 'failed' || state === 'uncertain')).toEqual([]);
    },
  );
});
