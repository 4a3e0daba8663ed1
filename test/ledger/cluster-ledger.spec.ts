import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '../../libs/ledger/src/redis/redis-ledger.js';
import { Stage } from '../../libs/testing/src/ledger-contract/stage.js';
import { privateCluster, type PrivateCluster } from '../support/redis-cluster.js';

let cluster: PrivateCluster;
let redis: Cluster;
beforeAll(async () => {
  cluster = await privateCluster(5_000);
  redis = await connectRedis({ cluster: cluster.urls, commandTimeoutMs: 5_000, name: 'test' });
}, 60_000);
afterAll(async () => {
  await closeRedis(redis);
  await cluster.stop();
});

function stageOf(cron: string): Promise<Stage> {
  return Stage.of(async () => ({
    ledger: new RedisLedger({ redis, prefix: 'cluster', tenant: 'default' }),
    cron,
    now: async () => Date.now(),
    advance: () => Promise.reject(new Error('Nothing has to pass here.')),
    clockGoesBack: () => Promise.reject(new Error('Nothing goes back here.')),
  }));
}

describe('the Redis ledger on a cluster', () => {
  it('claims, confirms and reads crons whose keys lie on several nodes', async () => {
    const stage = await stageOf('cron-0');
    const request = await stage.request(1);
    const crons = Array.from({ length: 30 }, (_, n) => `cron-${n}`);
    const settled = await stage.ledger.claimAll(crons.map((cron) => ({ ...request, cron })));
    const ids = crons.map((cron) => `${cron}@${stage.instant(1)}`);
    expect(settled).toEqual(ids.map((runId) => ({ status: 'fulfilled', value: { verdict: 'claimed', runId } })));
    await stage.ledger.confirm(ids);
    const swept = await stage.ledger.overdueAll(crons, { againMs: 1, keep: 1 });
    const watched = { runs: [], watched: 1, surplus: false, notifications: 0 };
    expect(swept).toEqual(crons.map(() => ({ status: 'fulfilled', value: watched })));
    const records = await stage.ledger.readCrons(crons);
    expect(records.map(({ cursor }) => cursor)).toEqual(crons.map(() => stage.instant(1)));
    expect(await stage.ledger.countRuns(['nobody', ...crons])).toEqual([0, ...crons.map(() => 1)]);
    const runs = await Promise.all(crons.map((cron) => stage.ledger.runs(cron, 5)));
    expect(runs.flat().map(({ state }) => state)).toEqual(crons.map(() => 'enqueued'));
  });

  it('begins, keeps alive and ends in one turn what lies on several nodes', async () => {
    const stage = await stageOf('turns-0');
    const orders = Array.from({ length: 30 }, (_, n) => stage.order({ runId: `turns-${n}@manual-1` }));
    await Promise.all(orders.map((order) => stage.ledger.trigger(order)));
    const attempts = await Promise.all(orders.map(({ runId }) => stage.begun(runId)));
    const beats = await Promise.all(attempts.map((attempt) => stage.ledger.heartbeat(attempt, 60_000)));
    expect(beats).toEqual(orders.map(() => 'extended'));
    const ends = await Promise.all(attempts.map((attempt) => stage.ledger.finish(attempt, { kind: 'succeeded' })));
    expect(ends).toEqual(orders.map(() => 'succeeded'));
  });

  it('reaches the runs beside a new one, which lie where it does', async () => {
    const stage = await stageOf('replaced');
    const old = await stage.begun(await stage.claimed(1));
    await stage.claimed(2);
    await stage.ledger.trigger(stage.order({ overlap: 'replace' }));
    expect((await stage.run(old.runId)).cancel).not.toBeNull();
    expect(await stage.run(stage.idOf(2))).toMatchObject({ state: 'skipped', skipped: 'superseded' });
    expect(await stage.ledger.account(stage.cron, 0, Date.now() + 60_000)).toMatchObject({ runs: { length: 3 } });
    await stage.ledger.pause(stage.cron, { by: 'ada', reason: 'migration', until: null });
    expect(await stage.ledger.claim(await stage.request(3))).toEqual({ verdict: 'skipped', reason: 'paused' });
    expect(await stage.ledger.actions(stage.cron, 5)).toHaveLength(2);
  });
});
