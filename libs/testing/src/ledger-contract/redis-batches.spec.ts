import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { LONG_MS, Stage } from './stage.js';
import { privateRedis, type PrivateRedis } from '../../../../test/support/redis.js';

const SPACE = { prefix: 'batches', tenant: 'default' };

/** What several crons at once cost, and what a call does that fails half-way. */
describe('the Redis ledger, of many crons', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let stage: Stage;

  beforeAll(async () => {
    server = await privateRedis();
    redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
  });
  beforeEach(async () => {
    stage = await stageOn(redis);
  });
  afterEach(() => redis.flushall());
  afterAll(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  function stageOn(connection: Redis): Promise<Stage> {
    return Stage.of(async () => ({
      ledger: new RedisLedger({ redis: connection, ...SPACE }),
      cron: 'nightly-report',
      now: async () => Date.now(),
      advance: () => Promise.reject(new Error('Nothing has to pass here.')),
      clockGoesBack: () => Promise.reject(new Error('Nothing goes back here.')),
    }));
  }

  async function requests(count: number) {
    const request = await stage.request(1);
    return Array.from({ length: count }, (_, n) => ({ ...request, cron: `cron-${n}` }));
  }

  /** Crons with one finished run each. */
  async function cancelledOnce(count: number): Promise<string[]> {
    const crons = Array.from({ length: count }, (_, n) => `cron-${n}`);
    for (const cron of crons) {
      const { runId } = stage.order({ runId: `${cron}@manual-1` });
      await stage.ledger.trigger(stage.order({ runId }));
      expect(await stage.ledger.cancel(runId, { by: 'ada', graceMs: 1 })).toMatchObject({ verdict: 'cancelled' });
    }
    return crons;
  }

  /** How many scripts the server has run meanwhile. */
  async function scriptsDuring(act: () => Promise<unknown>): Promise<number> {
    const count = async () => {
      const stats = await redis.info('commandstats');
      return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
        (sum, [, calls]) => sum + Number(calls),
        0,
      );
    };
    const before = await count();
    await act();
    return (await count()) - before;
  }

  it('claims, reads and confirms a thousand crons in a few calls', async () => {
    const all = await requests(1_000);
    const ids = all.map(({ cron }) => `${cron}@${stage.instant(1)}`);
    // The scripts are known from here on, so that each is sent once.
    await stage.ledger.claimAll((await requests(1)).map((request) => ({ ...request, cron: 'first' })));
    await stage.ledger.confirm([`first@${stage.instant(1)}`]);
    expect(await scriptsDuring(() => stage.ledger.claimAll(all))).toBe(5);
    expect(await scriptsDuring(() => stage.ledger.confirm(ids))).toBe(2);
    expect(await scriptsDuring(() => stage.ledger.readCrons(all.map(({ cron }) => cron)))).toBe(2);
    const crons = all.map(({ cron }) => cron);
    await stage.overdue(LONG_MS);
    expect(await scriptsDuring(() => stage.ledger.overdueAll(crons, { againMs: LONG_MS, keep: 1 }))).toBe(5);
    expect(await stage.ledger.runs('cron-999', 1)).toMatchObject([{ state: 'enqueued' }]);
  });

  it('rejects of a call the claim whose cron is broken, and takes up the rest when it is sent again', async () => {
    const all = await requests(450);
    const broken = redisKeys(SPACE)('cron-250', 'cron');
    await redis.set(broken, 'no hash');
    const settled = await stage.ledger.claimAll(all);
    const rejected = settled.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []));
    expect(rejected).toEqual([250]);
    expect(settled[250]).toHaveProperty(
      'reason.message',
      expect.stringMatching(/^Expected a sound record .*WRONGTYPE/),
    );

    await redis.del(broken);
    const again = await stage.ledger.claimAll(all);
    expect(again.map((one) => (one.status === 'fulfilled' ? one.value.verdict : one.status))).toEqual(
      all.map(() => 'claimed'),
    );
    for (const n of [0, 249, 250, 449]) expect(await stage.ledger.runs(`cron-${n}`, 5)).toHaveLength(1);
  });

  it('sweeps the neighbours of a cron whose record is broken, and of a call that failed', async () => {
    const crons = (await requests(450)).map(({ cron }) => cron);
    await redis.set(redisKeys(SPACE)('cron-250', 'runs'), 'no sorted set');
    const sweep = async () => {
      const settled = await stage.ledger.overdueAll(crons, { againMs: LONG_MS, keep: 1 });
      return settled.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []));
    };
    expect(await sweep()).toEqual([250]);
    crons[7] = 'no {key}';
    expect(await sweep()).toEqual([...Array.from({ length: 200 }, (_, n) => n), 250]);
  });

  it('forgets the runs of a thousand crons in a few calls', async () => {
    const crons = await cancelledOnce(1_000);
    expect(await stage.ledger.forgetAll(['first'], 0)).toEqual([{ status: 'fulfilled', value: 0 }]);
    const forget = async () =>
      expect(await stage.ledger.forgetAll(crons, 0)).toEqual(crons.map(() => ({ status: 'fulfilled', value: 1 })));
    expect(await scriptsDuring(forget)).toBe(5);
    expect((await stage.ledger.newestRuns(crons, 5)).flat()).toEqual([]);
  });

  it('forgets the runs of the neighbours of a cron whose record is broken', async () => {
    const crons = await cancelledOnce(3);
    await redis.set(redisKeys(SPACE)('cron-1', 'skips'), 'no sorted set');
    const settled = await stage.ledger.forgetAll(crons, 0);
    const done = { status: 'fulfilled', value: 1 };
    expect(settled).toMatchObject([done, { status: 'rejected' }, done]);
    expect(settled[1]).toHaveProperty('reason.message', expect.stringMatching(/cron-1: WRONGTYPE/));
  });

  it('knows of a run whose deletion failed half-way that it is forgotten, and deletes the rest when asked again', async () => {
    const crons = await cancelledOnce(1);
    const failed = redisKeys(SPACE)('cron-0', 'failed');
    await redis.set(failed, 'no sorted set');
    expect(await stage.ledger.forgetAll(crons, 0)).toMatchObject([{ status: 'rejected' }]);
    const account = await stage.ledger.account('cron-0', 0, Date.now() + LONG_MS);
    expect(account).toMatchObject({ runs: [], forgotten: expect.any(Number) });
    await redis.del(failed);
    expect(await stage.ledger.forgetAll(crons, 0)).toEqual([{ status: 'fulfilled', value: 1 }]);
    expect(await redis.exists(redisKeys(SPACE)('cron-0', 'runs'))).toBe(0);
  });

  it('names a cron whose open runs are broken as one with pending runs, and no neighbour', async () => {
    const crons = (await requests(450)).map(({ cron }) => cron);
    await redis.set(redisKeys(SPACE)('cron-250', 'open'), 'no sorted set');
    expect(await stage.ledger.withPending(crons)).toEqual(['cron-250']);
    await expect(stage.ledger.pending('cron-250')).rejects.toThrow('WRONGTYPE');
  });

  it('rejects a cron whose name makes no key, and no other', async () => {
    const [one, two] = await requests(2);
    if (!one || !two) throw new Error('Expected two requests.');
    const settled = await stage.ledger.claimAll([one, { ...one, cron: 'no {key}' }, two]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('lets nobody else’s broken record touch a claim of the same call that was done before it', async () => {
    const [one, two] = await requests(2);
    if (!one || !two) throw new Error('Expected two requests.');
    await redis.set(redisKeys(SPACE)(two.cron, 'cron'), 'no hash');
    await stage.ledger.claimAll([one, two]);
    expect(await stage.ledger.claim(one)).toMatchObject({ verdict: 'claimed' });
    expect(await stage.ledger.pending(one.cron)).toHaveLength(1);
  });
});
