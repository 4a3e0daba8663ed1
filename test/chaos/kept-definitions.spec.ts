import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { declared } from '../support/fencepost-deployment.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';
import { KeptDefinitions } from './kept-definitions.js';
import { storesOn } from './outside-stores.js';

let redis: RedisClient;

beforeAll(async () => {
  redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 10_000, name: 'oracle' });
});
afterAll(() => closeRedis(redis));

const DECLARED = ['kept-changed', 'kept-removed', 'kept-paused'];

describe('the definitions that are looked at during chaos', () => {
  it('are lost, each of them, when their store is wiped and the crons of the code are declared again', async () => {
    const prefix = freshPrefix();
    const { stores, closeStores } = await storesOn({
      ...{ redis, waiting: redis, waitReplicas: 0, prefix },
      database: undefined,
    });
    const declare = () =>
      stores.catalog.declare(
        DECLARED.map((name) => declared(name)),
        { seq: 1, source: 'chaos' },
      );
    try {
      await declare();
      const kept = new KeptDefinitions(stores);
      await kept.order();
      await declare();
      await kept.look();
      expect(kept.lost).toEqual([]);
      await clearPrefixes(redis, [prefix]);
      await declare();
      await kept.look();
      expect(new Set(kept.lost.map((sentence) => sentence.split(' was ')[0]))).toEqual(
        new Set([
          ...['kept-changed', 'kept-removed', 'kept-made'].map((name) => `The audit records of ${name}`),
          ...[...DECLARED, 'kept-made'].map((name) => `The definition of ${name}`),
          'The pause of kept-paused',
        ]),
      );
    } finally {
      await closeStores();
    }
  });
});
