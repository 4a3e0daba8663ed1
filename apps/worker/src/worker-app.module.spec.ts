import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { CATALOG } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import { StaleFenceError, type Fence } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshPrefix, testRedis } from '../../../test/support/redis.js';
import { WorkerAppModule } from './worker-app.module.js';

const prefix = freshPrefix();
let app: INestApplication;

afterEach(async () => {
  await app.close();
  const redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  const keys = await redis.keys(`*${prefix}*`);
  if (keys.length > 0) await redis.del(keys);
  await closeRedis(redis);
});

describe('the worker app', () => {
  beforeEach(async () => {
    const jobs = { redis: testRedis(), prefix };
    const environment = { host: '127.0.0.1', port: 0, logLevel: 'silent', pod: undefined, jobs };
    const built = await Test.createTestingModule({ imports: [WorkerAppModule.forRoot(environment)] }).compile();
    app = built.createNestApplication();
    await app.listen(0, '127.0.0.1');
  });

  it('declares its jobs and says that it is ready', async () => {
    const { entries } = await app.get<Catalog>(CATALOG).read();
    const names = entries.map(({ definition }) => definition.name);
    expect(names).toEqual(['latency-report', 'pulse', 'snapshot']);
    expect((await fetch(`${await app.getUrl()}/health/ready`)).status).toBe(200);
  });

  it('serves on /metrics what its sink has refused', async () => {
    const write = (fence: number) =>
      app.get(RedisFencedRows).write({ row: 'a', value: 'b', fence: fence as Fence, idempotencyKey: `${fence}` });
    await write(8);
    await expect(write(7)).rejects.toBeInstanceOf(StaleFenceError);
    const metrics = await (await fetch(`${await app.getUrl()}/metrics`)).text();
    expect(metrics).toMatch(
      /^fencepost_lease_fencing_rejected_total\{.*resource_type="[a-z]+",downstream="sink"\} 1$/m,
    );
  });
});
