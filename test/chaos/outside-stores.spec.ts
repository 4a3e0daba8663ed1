import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { freshPrefix, testRedis } from '../support/redis.js';
import { storesOn } from './outside-stores.js';

let redis: RedisClient;
let waiting: RedisClient;

beforeAll(async () => {
  const connect = (name: string) => connectRedis({ url: testRedis(), commandTimeoutMs: 10_000, name });
  redis = await connect('oracle');
  waiting = await connect('oracle-ledger');
});
afterAll(async () => {
  await closeRedis(waiting);
  await closeRedis(redis);
});

async function answerOn(waitReplicas: number): Promise<unknown> {
  const { stores, closeStores } = await storesOn({
    redis,
    waiting,
    waitReplicas,
    prefix: freshPrefix(),
    database: undefined,
  });
  try {
    const answer = { verdict: 'done', result: 'null' } as const;
    return await stores.ledger.resolve('chaos-asked@1000', {
      nonce: 'n',
      question: { attempt: 1, effect: 'pay', item: null, since: 0 },
      answer,
      by: 'the oracle',
      reason: 'it looked',
    });
  } finally {
    await closeStores();
  }
}

describe('the stores, seen from outside', () => {
  it('do not take an answer for given that no replica has, where the pods wait for replicas', async () => {
    await expect(answerOn(1)).rejects.toMatchObject({ code: 'NOT_REPLICATED' });
  });

  it('have no replica to wait for where the pods have none', async () => {
    expect(await answerOn(0)).toEqual({ verdict: 'missing' });
  });
});
