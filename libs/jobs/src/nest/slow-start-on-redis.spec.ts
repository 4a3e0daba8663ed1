import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { retryOnBoot } from './retry-on-boot.js';
import { freshPrefix, privateRedis, type PrivateRedis } from '../../../../test/support/redis.js';

const PATIENCE_MS = 100;

describe('a queue that is opened while the server is slow', () => {
  let server: PrivateRedis;
  beforeAll(async () => {
    server = await privateRedis();
  });
  afterAll(() => server.stop());

  it('takes runs as soon as the server answers again', async () => {
    const redis = await connectRedis({ url: server.url, commandTimeoutMs: PATIENCE_MS, name: 'test' });
    const troubles: Error[] = [];
    const onTrouble = (error: Error) => void troubles.push(error);
    const space = { redis, prefix: freshPrefix(), tenant: 'default' };
    server.freeze();
    const opening = retryOnBoot(() => BullmqRunQueue.open({ ...space, onTrouble }));
    await expect.poll(() => troubles.length).toBe(1);
    server.thaw();

    const runs = await opening;
    await runs.enqueue([{ runId: 'tick@1763607600000', delivery: 1 }]);
    expect(await runs.holds([{ runId: 'tick@1763607600000', delivery: 1 }])).toEqual(['waiting']);
    await runs.close();
    await closeRedis(redis);
  });
});
