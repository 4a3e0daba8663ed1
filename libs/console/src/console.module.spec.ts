import type { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { BULL_BOARD_INSTANCE } from '@bull-board/nestjs';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { OperationsModule } from '@fencepost/operations';
import { PodModule } from '@fencepost/pod';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshPrefix, testRedis } from '../../../test/support/redis.js';
import { accessOf } from './auth/access.js';
import { ConsoleModule } from './console.module.js';
import { HealthController } from '../../pod/src/health.controller.js';

const prefix = freshPrefix();
const shown: BullMQAdapter[] = [];
let app: INestApplication;

beforeEach(async () => {
  const jobs = { redis: testRedis(), prefix };
  const environment = { host: '127.0.0.1', port: 0, logLevel: 'silent', pod: 'pod-7', jobs };
  shown.length = 0;
  const pod = PodModule.forRoot('scheduler', environment, OperationsModule);
  const console = ConsoleModule.on(pod, await accessOf(environment));
  const built = await Test.createTestingModule({ imports: [pod, console] })
    .overrideProvider(BULL_BOARD_INSTANCE)
    .useValue({ addQueue: (queue: BullMQAdapter) => void shown.push(queue) })
    .compile();
  app = built.createNestApplication();
  await app.init();
});
afterEach(async () => {
  await app.close();
  const redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  const keys = await redis.keys(`*${prefix}*`);
  if (keys.length > 0) await redis.del(keys);
  await closeRedis(redis);
});

describe('the console of a scheduler pod', () => {
  it('lives and is ready', async () => {
    const health = app.get(HealthController, { strict: false });
    expect(health.live()).toEqual({ status: 'ok' });
    expect(await health.ready()).toMatchObject({ status: 'ok', info: { redis: { status: 'up' } } });
  });

  it('is not ready, and lives, when Redis does not answer', async () => {
    const health = app.get(HealthController, { strict: false });
    await closeRedis(app.get(LEASE_REDIS, { strict: false }));
    await expect(health.ready()).rejects.toMatchObject({
      status: 503,
      response: { error: { redis: { status: 'down', message: 'Redis does not answer' } } },
    });
    expect(health.live()).toEqual({ status: 'ok' });
  });

  it('shows the queue it enqueues into on its board, and no other', async () => {
    const runs = app.get<BullmqRunQueue>(RUN_QUEUE, { strict: false });
    await runs.enqueue([{ runId: 'nightly-report@1', delivery: 1 }]);
    expect(shown.map((queue) => queue.getName())).toEqual(['runs']);
    expect(await shown[0]?.getJobCounts()).toMatchObject({ waiting: 1 });
  });
});
