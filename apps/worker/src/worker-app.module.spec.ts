import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { CATALOG } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
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
  it('declares its jobs and says that it is ready', async () => {
    const jobs = { redis: testRedis(), prefix };
    const environment = { host: '127.0.0.1', port: 0, logLevel: 'silent', pod: undefined, jobs };
    const built = await Test.createTestingModule({ imports: [WorkerAppModule.forRoot(environment)] }).compile();
    app = built.createNestApplication();
    await app.listen(0, '127.0.0.1');
    const { entries } = await app.get<Catalog>(CATALOG).read();
    const names = entries.map(({ definition }) => definition.name);
    expect(names).toEqual(['latency-report', 'pulse', 'snapshot']);
    expect((await fetch(`${await app.getUrl()}/health/ready`)).status).toBe(200);
  });
});
